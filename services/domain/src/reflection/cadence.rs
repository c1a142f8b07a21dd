//! Days, weeks and months, as reflections count them. All dates are the user's.

use chrono::{Datelike, Days, Months, NaiveDate};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::DirectiveName;

/// How often a reflection comes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema, Display, EnumString, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Cadence {
    /// Of a day, at 23:00: from its conversations.
    Daily,
    /// Of a week from Monday on, on Sundays: from its days.
    Weekly,
    /// Of a month, on the 1st of the next one: from the weeks that ended in it.
    Monthly,
}

impl Cadence {
    /// The wire form, e.g. `daily`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The directive that says how it is told.
    pub fn directive(self) -> DirectiveName {
        match self {
            Self::Daily => DirectiveName::ReflectDaily,
            Self::Weekly => DirectiveName::ReflectWeekly,
            Self::Monthly => DirectiveName::ReflectMonthly,
        }
    }

    /// The first day of the last period whose reflection is due at the end of `day`.
    pub fn due_on(self, day: NaiveDate) -> NaiveDate {
        match self {
            Self::Daily => day,
            // The week that ends on this Sunday, or on the last one.
            Self::Weekly => {
                let since_sunday = u64::from(day.weekday().num_days_from_sunday());
                day - Days::new(since_sunday + 6)
            }
            Self::Monthly => first_of_month(day) - Months::new(1),
        }
    }

    /// The last day of a period.
    pub fn last_day(self, period: NaiveDate) -> NaiveDate {
        match self {
            Self::Daily => period,
            Self::Weekly => period + Days::new(6),
            Self::Monthly => first_of_month(period) + Months::new(1) - Days::new(1),
        }
    }

    /// What a period is made of: the cadence below, with its periods. A week belongs to the month in which it ends.
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
