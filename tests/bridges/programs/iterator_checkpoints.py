import tensorflow as tf

range_ds = tf.data.Dataset.range(20)
iterator = iter(range_ds)
ckpt = tf.train.Checkpoint(step=tf.Variable(0), iterator=iterator)
manager = tf.train.CheckpointManager(ckpt, "./my_ckpt", max_to_keep=3)
print([next(iterator).numpy() for _ in range(5)])
save_path = manager.save()
print(save_path)
print([next(iterator).numpy() for _ in range(5)])
print(type(ckpt.restore(manager.latest_checkpoint)).__name__ != "")
print([next(iterator).numpy() for _ in range(5)])
for epoch in range(4):
    for _ in range(2):
        next(iterator)
    ckpt.step.assign_add(1)
    print(int(ckpt.step), manager.save(checkpoint_number=epoch + 10))
print(manager.checkpoints, tf.train.latest_checkpoint("./my_ckpt"))
ds = tf.data.Dataset.from_tensor_slices(tf.range(30)).shuffle(8, seed=1).repeat(2).batch(3).prefetch(2)
it = iter(ds)
c2 = tf.train.Checkpoint(it=it, epoch=tf.Variable(3, dtype=tf.int64))
for _ in range(4):
    next(it)
p = c2.save("./other/ck")
want = [next(it).numpy().tolist() for _ in range(3)]
print(p, want)
it2 = iter(ds)
c3 = tf.train.Checkpoint(it=it2, epoch=tf.Variable(0, dtype=tf.int64))
status = c3.restore(p)
status.assert_existing_objects_matched()
print([next(it2).numpy().tolist() for _ in range(3)] == want, c3.epoch.numpy(), c3.save_counter.numpy())
p2 = c3.write("./plain")
print(p2)
c3.read(p2).assert_consumed()
m = tf.train.CheckpointManager(c3, directory="./new", max_to_keep=2, checkpoint_name="model")
print(m.restore_or_initialize(), m.latest_checkpoint, m.save())
if m.latest_checkpoint:
    print("Restored from {}".format(m.latest_checkpoint))
else:
    print("Initializing from scratch.")
iterator = iter(tf.data.Dataset.range(3))
print(iterator.get_next(), iterator.element_spec)
opt = iterator.get_next_as_optional()
print(opt.has_value(), opt.get_value())
next(iterator)
try:
    iterator.get_next()
except tf.errors.OutOfRangeError as e:
    print("End of sequence", e.message == "" or "End" in str(e))
try:
    next(iterator)
except StopIteration:
    print("stop")
print(iterator.get_next_as_optional().has_value())
try:
    ckpt.restore("./nope")
except tf.errors.NotFoundError as e:
    print("NotFound")
ckpt2 = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0]))
q = ckpt2.save("w/v")
ckpt2.v.assign([5.0, 6.0])
ckpt2.restore(q).assert_consumed()
print(ckpt2.v.numpy(), ckpt2.v)
