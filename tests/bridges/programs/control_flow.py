import tensorflow as tf

ds = tf.data.Dataset.range(1, 7)


@tf.function
def collatz(n):
    steps = tf.constant(0)
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


print([int(x) for x in ds.map(collatz)])


@tf.function(input_signature=[tf.TensorSpec([], tf.int64)])
def sign(n):
    if tf.equal(n % 3, 0):
        return tf.constant("fizz")
    elif n % 5 == 0:
        return tf.constant("buzz")
    else:
        return tf.strings.as_string(n)


print([x.numpy() for x in ds.map(sign)])


def total(n):
    result = tf.constant(0, tf.int64)
    for i in tf.range(n):
        if i == 3:
            continue
        result += i
    return result


print([int(x) for x in ds.map(total)])


def with_while(n):
    i, last = tf.while_loop(
        lambda i, acc: i < n,
        lambda i, acc: (i + 1, acc * 2),
        [tf.constant(0, tf.int64), tf.constant(1, tf.int64)],
    )
    return i, last


print([(int(a), int(b)) for a, b in ds.map(with_while)])


def array(n):
    ta = tf.TensorArray(tf.int64, size=0, dynamic_size=True)
    i = tf.constant(0, tf.int64)
    while i < n:
        ta = ta.write(tf.cast(i, tf.int32), i * i)
        i += 1
    return ta.stack()


for x in ds.take(3).map(array):
    print(x.numpy().tolist())


def fixed(n):
    ta = tf.TensorArray(dtype=tf.float32, size=3)
    for i in range(3):
        ta = ta.write(i, tf.cast(n, tf.float32) * i)
    return ta.stack(), ta.read(1), ta.size()


for a, b, c in ds.take(2).map(fixed):
    print(a.numpy().tolist(), b.numpy(), c.numpy())


def switched(n):
    index = tf.cast(n % 3, tf.int32)
    return tf.switch_case(index, [lambda: n * 10, lambda: n * 100, lambda: n * 1000])


print([int(x) for x in ds.map(switched)])
print([int(x) for x in ds.map(lambda n: tf.cond(n > 3, lambda: n, lambda: -n))])
print(
    [
        int(x)
        for x in ds.map(
            lambda n: tf.case(
                [(n < 3, lambda: tf.constant(0)), (n < 5, lambda: tf.constant(1))],
                default=lambda: tf.constant(2),
            )
        )
    ]
)
for x in ds.take(3).map(lambda n: tf.map_fn(lambda i: i * n, tf.range(n))):
    print(x.numpy().tolist(), x.dtype)
for x in ds.take(3).map(lambda n: tf.scan(lambda a, b: a + b, tf.range(n + 1))):
    print(x.numpy().tolist())
for a, b in ds.take(3).map(
    lambda n: tf.map_fn(
        lambda i: (tf.cast(i, tf.float32) / 2, i > 1), tf.range(n), fn_output_signature=(tf.float32, tf.bool)
    )
):
    print(a.numpy().tolist(), b.numpy().tolist())
for x in ds.take(4).map(lambda n: tf.foldl(lambda a, b: a * b, tf.range(1, n + 1))):
    print(int(x))


def branch(n):
    if n < 3:
        y = tf.cast(n, tf.float32)
        name = "small"
    else:
        y = tf.sqrt(tf.cast(n, tf.float32))
        name = "large"
    return {"y": y, "name": name}


mapped = ds.map(branch)
print(mapped.element_spec)
print([(round(float(r["y"]), 3), r["name"].numpy()) for r in mapped])


def mask(n):
    values = tf.range(n)
    even = tf.boolean_mask(values, values % 2 == 0)
    odd = values[values % 2 == 1]
    return tf.reduce_sum(even), tf.size(odd), tf.reduce_any(even > 2) and n < 6


print([(int(a), int(b), bool(c)) for a, b, c in ds.map(mask)])


def asserted(n):
    tf.debugging.assert_less(n, tf.constant(100, tf.int64), message="too large")
    with tf.control_dependencies([tf.debugging.assert_positive(n)]):
        return tf.identity(n)


print([int(x) for x in ds.map(asserted)])
for x in ds.take(2):
    tf.print(
        "row",
        x,
        tf.cast(x, tf.float32) / 3,
        [x, x + 1],
        {"a": x},
        sep="|",
        output_stream="file://printed.txt",
    )
print(open("printed.txt").read())


def until(n):
    i = tf.constant(0, tf.int64)
    for _ in tf.range(20):
        i += 2
        if i >= n:
            break
    return i


print([int(x) for x in ds.map(until)])


def both(n):
    x = n if n > 2 else n * 100
    ok = not (n > 4)
    return x, ok, n > 1 and n < 4, n < 2 or n > 5


print([tuple(part.item() for part in row) for row in ds.map(both).as_numpy_iterator()])
