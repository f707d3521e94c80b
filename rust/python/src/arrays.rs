//! Arrays of NumPy as columns: borrowed, checked, never copied.

use std::borrow::Borrow;

use lockstep_env::{Column, ColumnMut, Columns, ColumnsMut, Drawn, Dtype, Leaf, Numbers};
use numpy::{PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyReadwriteArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

macro_rules! arrays {
    ($($variant:ident($element:ty)),+ $(,)?) => {
        /// An array that is read.
        pub enum Read<'py> {
            $($variant(PyReadonlyArrayDyn<'py, $element>),)+
        }

        /// An array that is written.
        pub enum Written<'py> {
            $($variant(PyReadwriteArrayDyn<'py, $element>),)+
        }

        impl<'py> Read<'py> {
            fn borrow(array: &Bound<'py, PyAny>, dtype: Dtype) -> PyResult<Self> {
                Ok(match dtype {
                    $(Dtype::$variant => Read::$variant(array.cast::<PyArrayDyn<$element>>()?.try_readonly()?),)+
                })
            }

            fn shape(&self) -> &[usize] {
                match self { $(Read::$variant(array) => array.shape(),)+ }
            }

            fn is_contiguous(&self) -> bool {
                match self { $(Read::$variant(array) => array.is_c_contiguous(),)+ }
            }

            fn column(&self) -> PyResult<Column<'_>> {
                Ok(match self { $(Read::$variant(array) => Column::$variant(array.as_slice()?),)+ })
            }
        }

        impl<'py> Written<'py> {
            fn borrow(array: &Bound<'py, PyAny>, dtype: Dtype) -> PyResult<Self> {
                Ok(match dtype {
                    $(Dtype::$variant => Written::$variant(array.cast::<PyArrayDyn<$element>>()?.try_readwrite()?),)+
                })
            }

            fn shape(&self) -> &[usize] {
                match self { $(Written::$variant(array) => array.shape(),)+ }
            }

            fn is_contiguous(&self) -> bool {
                match self { $(Written::$variant(array) => array.is_c_contiguous(),)+ }
            }

            /// Its numbers.
            pub fn column(&mut self) -> PyResult<ColumnMut<'_>> {
                Ok(match self { $(Written::$variant(array) => ColumnMut::$variant(array.as_slice_mut()?),)+ })
            }
        }

        /// Numbers as a new array.
        pub fn array<'py>(py: Python<'py>, numbers: Numbers, shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
            Ok(match numbers {
                $(Numbers::$variant(values) => numpy::PyArray1::from_vec(py, values).reshape(shape)?.into_any(),)+
            })
        }

        fn copied(read: &Read<'_>) -> PyResult<Numbers> {
            Ok(match read { $(Read::$variant(array) => Numbers::$variant(array.as_slice()?.to_vec()),)+ })
        }

        fn dtype_of(array: &Bound<'_, PyAny>) -> Option<Dtype> {
            $(if array.cast::<PyArrayDyn<$element>>().is_ok() {
                return Some(Dtype::$variant);
            })+
            None
        }
    };
}

arrays! {
    Bool(bool), Int8(i8), Int16(i16), Int32(i32), Int64(i64), Uint8(u8), Uint16(u16), Uint32(u32), Uint64(u64),
    Float32(f32), Float64(f64),
}

/// Arrays to be read, one for each leaf, each `[rows, ...]`.
pub fn read<'py>(
    leaves: &[Leaf],
    arrays: impl ExactSizeIterator<Item = impl Borrow<Bound<'py, PyAny>>>,
    rows: usize,
) -> PyResult<Vec<Read<'py>>> {
    checked(leaves, arrays, |leaf, array| {
        let held = Read::borrow(array, leaf.dtype).map_err(|_| wrong(leaf, rows, array))?;
        if held.is_contiguous() && fits(held.shape(), leaf, rows) { Ok(held) } else { Err(wrong(leaf, rows, array)) }
    })
}

/// Arrays to be written, one for each leaf, each `[rows, ...]`.
pub fn written<'py>(
    leaves: &[Leaf],
    arrays: impl ExactSizeIterator<Item = impl Borrow<Bound<'py, PyAny>>>,
    rows: usize,
) -> PyResult<Vec<Written<'py>>> {
    checked(leaves, arrays, |leaf, array| {
        let held = Written::borrow(array, leaf.dtype).map_err(|_| wrong(leaf, rows, array))?;
        if held.is_contiguous() && fits(held.shape(), leaf, rows) { Ok(held) } else { Err(wrong(leaf, rows, array)) }
    })
}

/// What was read, as columns.
pub fn columns<'a>(leaves: &'static [Leaf], held: &'a [Read<'_>], rows: usize) -> PyResult<Columns<'a>> {
    let columns = held.iter().map(Read::column).collect::<PyResult<_>>()?;
    Columns::new(leaves, columns, rows).ok_or_else(|| PyValueError::new_err("arrays that do not fit their leaves"))
}

/// What is to be written, as columns.
pub fn columns_mut<'a>(leaves: &'static [Leaf], held: &'a mut [Written<'_>], rows: usize) -> PyResult<ColumnsMut<'a>> {
    let columns = held.iter_mut().map(Written::column).collect::<PyResult<_>>()?;
    ColumnsMut::new(leaves, columns, rows).ok_or_else(|| PyValueError::new_err("arrays that do not fit their leaves"))
}

/// Draws from Python: a list of `(name, array)`.
pub fn drawn(given: &[(String, Bound<'_, PyAny>)]) -> PyResult<Vec<Drawn>> {
    given
        .iter()
        .map(|(name, array)| {
            let dtype = dtype_of(array)
                .ok_or_else(|| PyTypeError::new_err(format!("the draw `{name}` is no array of numbers")))?;
            let held = Read::borrow(array, dtype)?;
            Ok(Drawn { name: name.clone(), numbers: copied(&held)?, shape: held.shape().to_vec() })
        })
        .collect()
}

fn checked<'py, T>(
    leaves: &[Leaf],
    arrays: impl ExactSizeIterator<Item = impl Borrow<Bound<'py, PyAny>>>,
    borrow: impl Fn(&Leaf, &Bound<'py, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    if arrays.len() != leaves.len() {
        let paths: Vec<_> = leaves.iter().map(|leaf| leaf.path).collect();
        return Err(PyValueError::new_err(format!("{} arrays were given; expected {paths:?}", arrays.len())));
    }
    leaves.iter().zip(arrays).map(|(leaf, array)| borrow(leaf, array.borrow())).collect()
}

fn fits(shape: &[usize], leaf: &Leaf, rows: usize) -> bool {
    // One number after the other: comparing slices is a call each, which took an eighth of the step of a small batch.
    let sizes = std::iter::once(&rows).chain(leaf.shape);
    shape.len() == 1 + leaf.shape.len() && shape.iter().zip(sizes).all(|(given, size)| given == size)
}

pyo3::create_exception!(
    lockstep_binding,
    Unfit,
    PyValueError,
    "An array is not as its leaf is held; nothing was done."
);

fn wrong(leaf: &Leaf, rows: usize, array: &Bound<'_, PyAny>) -> PyErr {
    let mut shape = vec![rows];
    shape.extend(leaf.shape);
    let given = |name| array.getattr(name).map_or_else(|_| "?".to_string(), |value| value.to_string());
    let came = format!("{}{}", given("dtype"), given("shape"));
    Unfit::new_err(format!(
        "the array of `{}` is {came}; expected {}{shape:?}, contiguous, and borrowed by nobody else",
        leaf.path,
        leaf.dtype.name()
    ))
}
