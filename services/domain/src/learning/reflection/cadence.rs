//! Periods of reflections: days, weeks and months. All dates are in the user's time zone.

use chrono::{Datelike, Days, Months, NaiveDate};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::DirectiveName;

/// Length of the period that a reflection covers.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema, Display, EnumString, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Cadence {
    /// A day: written at 23:00 from its conversations.
    Daily,
    /// A week from Monday on: written on Sunday from its days.
    Weekly,
    /// A month: written on the 1st of the next month from the weeks that ended in it.
    Monthly,
}

impl Cadence {
    /// Returns the name, e.g. `daily`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns the directive that instructs the model to write the reflection.
    pub fn directive(self) -> DirectiveName {
        match self {
            Self::Daily => DirectiveName::ReflectDaily,
            Self::Weekly => DirectiveName::ReflectWeekly,
            Self::Monthly => DirectiveName::ReflectMonthly,
        }
    }

    /// Returns the first day of the latest period that is due at the end of `day`.
    pub fn due_on(self, day: NaiveDate) -> NaiveDate {
        match self {
            Self::Daily => day,
            // The week that ends on this Sunday, or on the previous one.
            Self::Weekly => {
                let since_sunday = u64::from(day.weekday().num_days_from_sunday());
                day - Days::new(since_sunday + 6)
            }
            Self::Monthly => first_of_month(day) - Months::new(1),
        }
    }

    /// Returns the last day of a period.
    pub fn last_day(self, period: NaiveDate) -> NaiveDate {
        match self {
            Self::Daily => period,
            Self::Weekly => period + Days::new(6),
            Self::Monthly => first_of_month(period) + Months::new(1) - Days::new(1),
        }
    }

    /// Returns the next shorter cadence and the first days of its periods within this period. Returns `None` for a day.
    /// A week belongs to the month of its last day.
    pub fn below(self, period: NaiveDate) -> Option<(Self, Vec<NaiveDate>)> {
        match self {
            Self::Daily => None,
            Self::Weekly => Some((Self::Daily, (0..7).map(|days| period + Days::new(days)).collect())),
            Self::Monthly => {
                let last = self.last_day(period);
                let mondays =
                    std::iter::successors(Some(Self::Weekly.due_on(last)), |monday| Some(*monday - Days::new(7)));
                let mut weeks: Vec<_> = mondays.take_while(|monday| Self::Weekly.last_day(*monday) >= period).collect();
                weeks.reverse();
                Some((Self::Weekly, weeks))
            }
        }
    }
}

fn first_of_month(day: NaiveDate) -> NaiveDate {
    day - Days::new(u64::from(day.day0()))
}

#[cfg(test)]
mod tests;
