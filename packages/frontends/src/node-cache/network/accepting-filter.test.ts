import { join } from 'node:path';
import { ProgramError, type RunProgram } from '@portolan/kernel/base/run-program.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { expect, it } from 'vitest';
import { AcceptingFilter, BlockedPathError, UnreadRulesError } from './accepting-filter.ts';
import { listPacketRules } from './packet-rules.ts';

const ENDPOINTS = { addresses: ['169.254.20.10'], dnsPort: 53, healthPort: 8080 };
const PROGRAMS = {
  program: 'iptables-test',
  save: 'iptables-test-save',
  restore: 'iptables-test-restore',
  family: 4,
} as const;

interface Setting {
  readonly accepts?: boolean;
  /** Tables as in `/proc/net/ip_tables_names`; undefined: the variant is nftables. */
  readonly tables?: string;
  /** Where packets of pods get no answer. */
  readonly blocked?: string;
}

/** A node with a filter and one variant of iptables. */
async function start(run: RunProgram, { accepts = true, tables, blocked }: Setting = {}) {
  const folder = await makeTemporaryFolder();
  const tablesFile = join(folder.path, 'tables');
  if (tables !== undefined) await folder.write('tables', tables);
  const filter = {
    name: 'test',
    isSet: false,
    set: async () => {
      filter.isSet = true;
      return true;
    },
    remove: async () => {
      filter.isSet = false;
    },
    leave: () => {},
  };
  const log = new RecordingLog();
  const others = [tables === undefined ? PROGRAMS : { ...PROGRAMS, tablesFile }];
  const rules = listPacketRules(ENDPOINTS);
  const fixed = {
    filter,
    endpoints: ENDPOINTS,
    rules,
    run,
    findBlocked: async () => blocked,
    clock: new ManualClock(),
    log,
  };
  return { filter, log, accepting: new AcceptingFilter({ ...fixed, others, accepts }) };
}

const denied: RunProgram = async () => {
  throw new ProgramError('Permission denied');
};
const dropping: RunProgram = async ({ program }) => {
  if (program.endsWith('-restore')) throw new ProgramError('holding the xtables lock');
  return '*filter\n:INPUT DROP [0:0]\nCOMMIT\n';
};

it('sets nothing where packets pass rules that cannot be read', async () => {
  const { accepting, filter } = await start(denied, { tables: 'raw\nfilter\n' });
  await expect(accepting.set()).rejects.toThrow(UnreadRulesError);
  expect(filter.isSet).toBe(false);
});

it('sets no rule that diverts packets where those of pods get no answer', async () => {
  const { accepting, filter } = await start(async () => '', { blocked: '169.254.20.10 over UDP' });
  await expect(accepting.set()).rejects.toThrow(BlockedPathError);
  await expect(accepting.set()).rejects.toThrow('169.254.20.10 over UDP');
  expect(filter.isSet).toBe(false);
});

it.each<[Setting, string[]?]>([
  [{ accepts: true }],
  [{ accepts: true, tables: 'nat\n' }, []],
  [{ accepts: false, tables: 'filter\n' }],
])(
  'sets its rules where these are not needed or were asked for, with at most one warning: %j',
  async (setting, warnings = ['rules of iptables not read']) => {
    const { accepting, filter, log } = await start(denied, setting);
    await accepting.set();
    await accepting.set();
    expect(filter.isSet).toBe(true);
    expect(log.records.map(({ message }) => message)).toEqual(warnings);
  },
);

it('takes no query from the Service where ACCEPT rules cannot be set', async () => {
  const { accepting, filter } = await start(dropping);
  filter.isSet = true;
  await expect(accepting.set()).rejects.toThrow('xtables lock');
  expect(filter.isSet).toBe(false);
  accepting.leave();
});
