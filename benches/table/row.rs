//! The rows of the table, as the benches wrote them.

/// What was measured, in which unit, against what, and with which outcome.
#[derive(Debug)]
pub struct Row {
    pub what: String,
    pub unit: String,
    pub against: String,
    pub goal: String,
    pub least: String,
    pub median: String,
    pub most: String,
}

impl Row {
    /// How many times as good as its goal a figure is.
    pub fn multiple(&self, figure: &str) -> f64 {
        let number = |text: &str| text.parse::<f64>().unwrap();
        match self.goal.split_once(' ').unwrap() {
            ("≥", goal) => number(figure) / number(goal),
            (_, goal) => number(goal) / number(figure),
        }
    }

    fn measures(&self) -> [&String; 3] {
        [&self.what, &self.unit, &self.against]
    }
}

/// The rows of a file. Of one that was measured again, the later figures stand where the first ones did.
pub fn read(file: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for row in file.lines().map(parse) {
        let same = |other: &&mut Row| other.measures() == row.measures();
        match rows.iter_mut().find(same) {
            Some(earlier) => *earlier = row,
            None => rows.push(row),
        }
    }
    rows
}

fn parse(line: &str) -> Row {
    let mut fields = line.split('\t').map(str::to_owned);
    let mut next = || fields.next().expect("a line has a field for each column");
    Row {
        what: next(),
        unit: next(),
        against: next(),
        goal: next(),
        least: next(),
        median: next(),
        most: next(),
    }
}
