//! What every rank knows of itself, told to all.

use crate::error::RanksError;
use crate::transport::Transport;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What every rank gives, by rank, on all of them; it travels as JSON.
///
/// # Errors
/// Ranks that cannot go on together, or are not the same zerohop.
pub fn values<T: Serialize + DeserializeOwned>(transport: &dyn Transport, own: &T) -> Result<Vec<T>, RanksError> {
    let failed = |error: &dyn std::fmt::Display| RanksError::Failed(error.to_string());
    let own = serde_json::to_vec(own).map_err(|error| failed(&error))?;
    let all = transport.all_gather(&own).map_err(|error| failed(&error))?;
    all.iter().map(|bytes| read(bytes)).collect()
}

/// A value that another rank has sent.
///
/// # Errors
/// Bytes that are not such a value.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, RanksError> {
    let words = "what another rank says cannot be read: are all ranks the same zerohop?";
    serde_json::from_slice(bytes).map_err(|error| RanksError::Failed(format!("{words} ({error})")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::twin::Twin;
    use std::time::Duration;

    #[test]
    fn all_learn_what_each_gives() {
        std::thread::scope(|scope| {
            for twin in Twin::ranks(3, Duration::from_secs(20)) {
                scope.spawn(move || {
                    let own = (twin.rank(), "x".repeat(twin.rank()));
                    let all = [(0, String::new()), (1, "x".to_owned()), (2, "xx".to_owned())];
                    assert_eq!(values(&twin, &own).unwrap(), all);
                });
            }
        });
        assert!(read::<u8>(b"x").unwrap_err().to_string().contains("are all ranks the same zerohop?"));
    }
}
