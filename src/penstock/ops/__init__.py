"""Operations on arrays with TensorFlow's names, arguments and numbers.

They take NumPy values, and the traced values of a function that is given to `map`: a face over the NumPy functions that
trace already, with TensorFlow's rules of dtypes, which are stricter than NumPy's.

face.py      errors and warnings of all of them
operands.py  what they take: values, dtypes, pairs of one dtype
casting.py   other dtypes
texts.py     what functions of strings take
parsing.py   numbers written as text
shapes.py    other shapes
joining.py   several values as one and back
making.py    new values: zeros, ones, one_hot
choosing.py  where and gather
csv_*.py     the cells of CSV text, their values, and arguments that say what they are
"""
