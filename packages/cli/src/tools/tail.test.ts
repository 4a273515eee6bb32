import { expect, it, onTestFinished, vi } from 'vitest';
import type { CommandRow } from '../grammar/command.ts';
import { runTail } from './tail.ts';

const TAIL: CommandRow = {
  name: 'tail',
  summary: 'Shows queries',
  group: 'tools',
  dashes: '--',
  takes: () => Promise.reject(new Error('not described')),
  load: () => Promise.resolve(runTail),
};

it.each(['--history=/dev/null', '--socket=/nowhere'])(
  'takes no other format of the past with %s',
  async (where) => {
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    onTestFinished(() => written.mockRestore());
    const code = await runTail(['--since=1h', where, '--output=xml'], TAIL, [TAIL]);
    expect([code, written.mock.calls.join('')]).toEqual([
      2,
      'portolan tail: --output: unknown: "xml". Give text or json.\n',
    ]);
  },
);
