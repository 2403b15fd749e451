import tensorflow as tf
import numpy as np, os, pathlib
import scipy.ndimage as ndimage

rng = np.random.default_rng(0)
for c in ("daisy", "roses"):
    os.makedirs(f"flower_photos/{c}")
    for i in range(5):
        tf.io.write_file(
            f"flower_photos/{c}/{i}.jpg",
            tf.io.encode_jpeg(np.tile(rng.integers(0, 255, (10 + i, 12, 1), dtype=np.uint8), (4, 4, 3))),
        )
flowers_root = pathlib.Path("flower_photos")
for item in sorted(flowers_root.glob("*")):
    print(item.name)
list_ds = tf.data.Dataset.list_files(str(flowers_root / "*/*"), shuffle=False)
for f in list_ds.take(5):
    print(f.numpy())


def process_path(file_path):
    label = tf.strings.split(file_path, os.sep)[-2]
    return tf.io.read_file(file_path), label


labeled_ds = list_ds.map(process_path)
for image_raw, label_text in labeled_ds.take(1):
    print(repr(image_raw.numpy()[:4]))
    print()
    print(label_text.numpy())


def parse_image(filename):
    parts = tf.strings.split(filename, os.sep)
    label = parts[-2]
    image = tf.io.read_file(filename)
    image = tf.io.decode_jpeg(image)
    image = tf.image.convert_image_dtype(image, tf.float32)
    image = tf.image.resize(image, [128, 128])
    return image, label


file_path = next(iter(list_ds))
image, label = parse_image(file_path)


def show(image, label):
    print(image.shape, label.numpy().decode("utf-8"), round(float(image.numpy().mean()), 4))


show(image, label)
images_ds = list_ds.map(parse_image)
for image, label in images_ds.take(2):
    show(image, label)
print(images_ds.element_spec)


def random_rotate_image(image):
    image = ndimage.rotate(image, 20, reshape=False)
    return image


image, label = next(iter(images_ds))
image = random_rotate_image(image)
print(type(image).__name__, image.shape)


def tf_random_rotate_image(image, label):
    im_shape = image.shape
    [
        image,
    ] = tf.py_function(random_rotate_image, [image], [tf.float32])
    image.set_shape(im_shape)
    return image, label


rot_ds = images_ds.map(tf_random_rotate_image)
for image, label in rot_ds.take(2):
    show(image, label)
print(rot_ds.element_spec)
class_names = np.array(sorted([item.name for item in flowers_root.glob("*") if item.name != "LICENSE.txt"]))


def get_label(file_path):
    parts = tf.strings.split(file_path, os.path.sep)
    one_hot = parts[-2] == class_names
    return tf.argmax(one_hot)


def decode_img(img):
    img = tf.io.decode_jpeg(img, channels=3)
    return tf.image.resize(img, [18, 18])


def pp(file_path):
    label = get_label(file_path)
    img = tf.io.read_file(file_path)
    return decode_img(img), label


image_count = len(list(flowers_root.glob("*/*.jpg")))
val_size = int(image_count * 0.2)
train_ds = list_ds.skip(val_size)
val_ds = list_ds.take(val_size)
print(tf.data.experimental.cardinality(train_ds).numpy(), tf.data.experimental.cardinality(val_ds))
train_ds = train_ds.map(pp, num_parallel_calls=tf.data.AUTOTUNE)
for image, label in train_ds.take(1):
    print("Image shape: ", image.numpy().shape)
    print("Label: ", label.numpy())


def configure_for_performance(ds):
    ds = ds.cache()
    ds = ds.shuffle(buffer_size=1000, seed=4)
    ds = ds.batch(4)
    ds = ds.prefetch(buffer_size=tf.data.AUTOTUNE)
    return ds


train_ds = configure_for_performance(train_ds)
image_batch, label_batch = next(iter(train_ds))
print(image_batch.shape, label_batch)
for i in range(2):
    print(image_batch[i].numpy().astype("uint8").sum(), class_names[label_batch[i]])
