import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { countLostLines, logLinesTo, MAX_WAITING_OCTETS } from './log-output.ts';

it('counts each line that the stream refuses, and writes the next one', async () => {
  const written: string[] = [];
  const stream = {
    isClosed: true,
    writableLength: 0,
    write(line: string, onWritten: (error?: Error | null) => void) {
      if (!this.isClosed) written.push(line);
      queueMicrotask(() => onWritten(this.isClosed ? new Error('write EPIPE') : null));
      return true;
    },
  };
  const before = countLostLines();
  const write = logLinesTo(stream);
  write('one\n');
  write('two\n');
  await Promise.resolve();
  stream.isClosed = false;
  write('three\n');
  await Promise.resolve();
  expect(countLostLines() - before).toBe(2);
  expect(written).toEqual(['three\n']);
});

it('keeps a bounded number of octets for a reader that stands still', () => {
  const stream = new Writable({ write() {} });
  const before = countLostLines();
  const write = logLinesTo(stream);
  const line = `${'x'.repeat(1_023)}\n`;
  const lines = (2 * MAX_WAITING_OCTETS) / line.length;
  for (let count = 0; count < lines; count++) write(line);
  expect(stream.writableLength).toBeLessThanOrEqual(MAX_WAITING_OCTETS + line.length);
  expect(countLostLines() - before).toBe(lines - MAX_WAITING_OCTETS / line.length - 1);
});
