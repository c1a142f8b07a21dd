use super::*;

/// A disk that rejects the first `refuses` writes and accepts later ones.
struct Disk {
    refuses: usize,
    written: String,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.refuses > 0 {
            self.refuses -= 1;
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.written.push_str(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn lost_lines_are_counted_and_reported_once() {
    let (lost, mut disk) = (AtomicU64::new(0), Disk { refuses: 3, written: String::new() });
    let mut batch = Batch::default();
    for line in ["a\n", "b\n", "c\n", "d\n", "e\n"] {
        batch.add(line.as_bytes());
        batch.write(&lost, &mut disk);
    }
    assert_eq!(disk.written, format!("{}d\ne\n", missing_line(3)));
}

#[test]
fn queued_lines_are_written_before_the_mark_is_signalled() {
    let (queue, lines) = sync_channel(WAITING);
    let (done, written) = sync_channel(1);
    for message in [QueuedLine::Line(b"a\n".to_vec()), QueuedLine::Line(b"b\n".to_vec()), QueuedLine::Mark(done)] {
        queue.try_send(message).unwrap_or_else(|_| panic!("the queue is full"));
    }
    drop(queue);
    let mut disk = Disk { refuses: 0, written: String::new() };
    write_all(&lines, &AtomicU64::new(0), &mut disk);
    assert_eq!((disk.written.as_str(), written.recv()), ("a\nb\n", Ok(())));
}

#[test]
fn a_full_queue_drops_lines_without_blocking() {
    let (queue, lines) = sync_channel(2);
    let entrance = LogLines { queue, lost: Arc::default() };
    for _ in 0..5 {
        entrance.make_writer().write_all(b"line\n").unwrap();
    }
    assert_eq!(entrance.lost.load(Ordering::Relaxed), 3);
    drop(entrance);
    assert_eq!(lines.iter().count(), 2);
}

#[test]
fn hidden_characters_in_logged_texts_are_escaped() {
    let mut batch = Batch::default();
    batch.add("{\"user\":\"a\u{9b}2J\u{2028}\u{202e}\u{7f}\"}\n".as_bytes());
    batch.add("\x1b[32mINFO\x1b[0m user=a\u{9b}2J\rall is well\nINFO\u{202e}\n".as_bytes());
    assert_eq!(
        String::from_utf8(batch.bytes).unwrap(),
        "{\"user\":\"a\\u009b2J\\u2028\\u202e\\u007f\"}\n\
         \x1b[32mINFO\x1b[0m user=a<U+009B>2J<U+000D>all is well<U+000A>INFO<U+202E>\n"
    );
}
