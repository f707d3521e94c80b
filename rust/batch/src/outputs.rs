//! Where a step's results go.

use lockstep_env::ColumnsMut;

/// Arrays for what a step of all sub-environments leads to.
#[derive(Debug)]
pub struct Outputs<'a> {
    /// What is seen then.
    pub seen: ColumnsMut<'a>,
    /// What was seen at the end of an episode that ended in this step; other rows keep what they held. Written only where a
    /// sub-environment restarts in the same step.
    pub last: ColumnsMut<'a>,
    /// What the step earned.
    pub reward: ColumnsMut<'a>,
    /// Which episodes ended by the environment's rules.
    pub terminated: &'a mut [bool],
    /// Which episodes were cut short.
    pub truncated: &'a mut [bool],
}

impl<'a> Outputs<'a> {
    /// Arrays that are all for the same number of sub-environments; None where one is not.
    pub fn new(
        seen: ColumnsMut<'a>,
        last: ColumnsMut<'a>,
        reward: ColumnsMut<'a>,
        terminated: &'a mut [bool],
        truncated: &'a mut [bool],
    ) -> Option<Self> {
        let rows = seen.rows();
        let fits = [last.rows(), reward.rows(), terminated.len(), truncated.len()].iter().all(|each| *each == rows);
        fits.then_some(Outputs { seen, last, reward, terminated, truncated })
    }

    /// For how many sub-environments they are.
    pub fn rows(&self) -> usize {
        self.seen.rows()
    }

    /// Those of the first `rows` sub-environments, and those of the others.
    pub(crate) fn split_at(self, rows: usize) -> (Self, Self) {
        let (seen, seen_right) = self.seen.split_at(rows);
        let (last, last_right) = self.last.split_at(rows);
        let (reward, reward_right) = self.reward.split_at(rows);
        let (terminated, terminated_right) = self.terminated.split_at_mut(rows);
        let (truncated, truncated_right) = self.truncated.split_at_mut(rows);
        (
            Outputs { seen, last, reward, terminated, truncated },
            Outputs {
                seen: seen_right,
                last: last_right,
                reward: reward_right,
                terminated: terminated_right,
                truncated: truncated_right,
            },
        )
    }
}
