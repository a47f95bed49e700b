//! A public parameter in a ledger or a model.

use std::fmt;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer, ser};

/// A public parameter: a flag, a whole number, a real number, a text, a list, or nothing.
///
/// In JSON it is the plain value; in binary formats, which cannot guess types, it is tagged.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Not set.
    Null,
    /// A switch.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// A real number.
    Real(f64),
    /// A word or a sentence.
    Text(String),
    /// Several values.
    List(Vec<Value>),
}

macro_rules! from {
    ($($source:ty => |$value:ident| $make:expr;)*) => {$(
        impl From<$source> for Value {
            fn from($value: $source) -> Self {
                $make
            }
        }
    )*};
}

from! {
    bool => |value| Self::Flag(value);
    i64 => |value| Self::Whole(value);
    i32 => |value| Self::Whole(value.into());
    u32 => |value| Self::Whole(value.into());
    u64 => |value| i64::try_from(value).map_or(Self::Real(value as f64), Self::Whole);
    usize => |value| i64::try_from(value).map_or(Self::Real(value as f64), Self::Whole);
    f64 => |value| Self::Real(value);
    &str => |value| Self::Text(value.to_owned());
    String => |value| Self::Text(value);
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(values: Vec<T>) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("none"),
            Self::Flag(value) => write!(f, "{value}"),
            Self::Whole(value) => write!(f, "{value}"),
            Self::Real(value) => write!(f, "{value}"),
            Self::Text(value) => f.write_str(value),
            Self::List(values) => {
                for (position, value) in values.iter().enumerate() {
                    if position > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{value}")?;
                }
                Ok(())
            }
        }
    }
}

/// The tagged twin for formats that cannot guess types, its lists made of `L`.
#[derive(Serialize, Deserialize)]
enum Tagged<L> {
    Null,
    Flag(bool),
    Whole(i64),
    Real(f64),
    Text(String),
    List(Vec<L>),
}

/// What lists of the last level are made of: nothing.
#[derive(Serialize, Deserialize)]
enum Nothing {}

/// Lists of lists of lists, and no further: a hostile file must not make the reader recurse without end.
type Bounded = Tagged<Tagged<Tagged<Tagged<Nothing>>>>;

/// One level of [`Bounded`].
trait Level: Sized {
    /// None if the value is nested too deeply.
    fn wrap(value: &Value) -> Option<Self>;
    fn unwrap(self) -> Value;
}

impl Level for Nothing {
    fn wrap(_: &Value) -> Option<Self> {
        None
    }

    fn unwrap(self) -> Value {
        match self {}
    }
}

impl<L: Level> Level for Tagged<L> {
    fn wrap(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Null => Self::Null,
            Value::Flag(value) => Self::Flag(*value),
            Value::Whole(value) => Self::Whole(*value),
            Value::Real(value) => Self::Real(*value),
            Value::Text(value) => Self::Text(value.clone()),
            Value::List(values) => Self::List(values.iter().map(L::wrap).collect::<Option<_>>()?),
        })
    }

    fn unwrap(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Flag(value) => Value::Flag(value),
            Self::Whole(value) => Value::Whole(value),
            Self::Real(value) => Value::Real(value),
            Self::Text(value) => Value::Text(value),
            Self::List(values) => Value::List(values.into_iter().map(L::unwrap).collect()),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return match self {
                Self::Null => serializer.serialize_none(),
                Self::Flag(value) => serializer.serialize_bool(*value),
                Self::Whole(value) => serializer.serialize_i64(*value),
                Self::Real(value) => serializer.serialize_f64(*value),
                Self::Text(value) => serializer.serialize_str(value),
                Self::List(values) => values.serialize(serializer),
            };
        }
        Bounded::wrap(self)
            .ok_or_else(|| ser::Error::custom("a list is nested too deeply"))?
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return deserializer.deserialize_any(PlainVisitor);
        }
        Bounded::deserialize(deserializer).map(Level::unwrap)
    }
}

struct PlainVisitor;

impl<'de> Visitor<'de> for PlainVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, a flag, a number, a text or a list of these")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = sequence.next_element()? {
            values.push(value);
        }
        Ok(Value::List(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_holds_plain_values_and_brings_them_back() {
        let value = Value::List(vec![
            Value::Null,
            true.into(),
            (-3_i64).into(),
            0.5.into(),
            "uniform".into(),
        ]);
        let text = serde_json::to_string(&value).expect("serializable");
        assert_eq!(text, r#"[null,true,-3,0.5,"uniform"]"#);
        assert_eq!(serde_json::from_str::<Value>(&text).expect("valid"), value);
    }
}
