//! The types of values, by their number in files.

/// How the field of a type holds its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Four bytes each.
    Four,
    /// Eight bytes each.
    Eight,
    /// A varint each.
    Varint,
    /// All in one string of bytes.
    Bytes,
    /// A string each.
    Strings,
}

/// A type of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DType {
    /// Its number in files.
    pub number: u64,
    /// TensorFlow's name.
    pub name: &'static str,
    /// Bytes of a value; 0 for strings.
    pub width: usize,
    /// The field of a TensorProto that holds such values one by one.
    pub field: u32,
    /// How it does.
    pub lane: Lane,
}

const fn of(number: u64, name: &'static str, width: usize, field: u32, lane: Lane) -> DType {
    DType { number, name, width, field, lane }
}

/// Number of bool.
pub const BOOL: u64 = 10;
/// Number of variants, whose values are messages.
pub const VARIANT: u64 = 21;
/// Indices and row limits.
pub const INT64: DType = of(9, "int64", 8, 10, Lane::Varint);
/// Row limits of some ragged tensors.
pub const INT32: DType = of(3, "int32", 4, 7, Lane::Varint);

static ALL: [DType; 31] = [
    of(1, "float32", 4, 5, Lane::Four),
    of(2, "float64", 8, 6, Lane::Eight),
    INT32,
    of(4, "uint8", 1, 7, Lane::Varint),
    of(5, "int16", 2, 7, Lane::Varint),
    of(6, "int8", 1, 7, Lane::Varint),
    of(7, "string", 0, 8, Lane::Strings),
    of(8, "complex64", 8, 9, Lane::Four),
    INT64,
    of(BOOL, "bool", 1, 11, Lane::Varint),
    of(11, "qint8", 1, 7, Lane::Varint),
    of(12, "quint8", 1, 7, Lane::Varint),
    of(13, "qint32", 4, 7, Lane::Varint),
    of(14, "bfloat16", 2, 13, Lane::Varint),
    of(15, "qint16", 2, 7, Lane::Varint),
    of(16, "quint16", 2, 7, Lane::Varint),
    of(17, "uint16", 2, 7, Lane::Varint),
    of(18, "complex128", 16, 12, Lane::Eight),
    of(19, "float16", 2, 13, Lane::Varint),
    of(22, "uint32", 4, 16, Lane::Varint),
    of(23, "uint64", 8, 17, Lane::Varint),
    of(24, "float8_e5m2", 1, 18, Lane::Bytes),
    of(25, "float8_e4m3fn", 1, 18, Lane::Bytes),
    of(26, "float8_e4m3fnuz", 1, 18, Lane::Bytes),
    of(27, "float8_e4m3b11fnuz", 1, 18, Lane::Bytes),
    of(28, "float8_e5m2fnuz", 1, 18, Lane::Bytes),
    of(29, "int4", 1, 7, Lane::Varint),
    of(30, "uint4", 1, 7, Lane::Varint),
    of(31, "int2", 1, 7, Lane::Varint),
    of(32, "uint2", 1, 7, Lane::Varint),
    of(33, "float4_e2m1fn", 1, 18, Lane::Bytes),
];

impl DType {
    /// The type of a number.
    #[must_use]
    pub fn numbered(number: u64) -> Option<&'static Self> {
        ALL.iter().find(|dtype| dtype.number == number)
    }

    /// Whether integers are written sign-extended to 64 bits.
    #[must_use]
    pub fn is_signed(&self) -> bool {
        matches!(self.number, 3 | 5 | 6 | 9 | 11 | 13 | 15)
    }
}

/// What to call a number in an error.
#[must_use]
pub fn name_of(number: u64) -> String {
    match number {
        VARIANT => "variant".into(),
        _ => DType::numbered(number).map_or_else(|| format!("dtype {number}"), |dtype| dtype.name.into()),
    }
}
