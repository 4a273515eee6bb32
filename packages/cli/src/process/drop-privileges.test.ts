import { needPrograms, notePrograms } from '@portolan/kernel/base/other-programs.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { dropPrivileges } from './drop-privileges.ts';

// Unit tests share modules: another file may have said that it runs programs.
beforeEach(() => notePrograms('allowed'));
afterEach(() => notePrograms('allowed'));

function start(environment: Readonly<Record<string, string>>, result: true | { reason: string } = true) {
  const log = new RecordingLog();
  let calls = 0;
  const confine = () => {
    calls += 1;
    return result;
  };
  dropPrivileges({ environment, log, confine });
  return { calls, records: log.records };
}

it('a process that runs no programs gives up the right to, without a word', () => {
  const { calls, records } = start({});
  expect(calls).toBe(1);
  expect(records).toEqual([]);
  expect(() => needPrograms('the kubeconfig names a command')).toThrow(
    'the kubeconfig names a command: this process may run no programs any more. Restart it with PORTOLAN_SECCOMP=off.',
  );
});

it('one that runs programs keeps it, as one does that is told to', () => {
  expect(start({ PORTOLAN_SECCOMP: 'off' }).calls).toBe(0);
  expect(() => needPrograms('healthz runs commands')).not.toThrow();
  const { calls, records } = start({});
  expect(calls).toBe(0);
  expect(records[0]).toMatchObject({ level: 'debug', fields: { reason: 'healthz runs commands' } });
});

it('where the kernel refuses, the start goes on', () => {
  const { records } = start({}, { reason: 'the kernel refuses seccomp: ENOSYS' });
  expect(records).toHaveLength(1);
  expect(records[0]).toMatchObject({
    level: 'debug',
    fields: { reason: 'the kernel refuses seccomp: ENOSYS' },
  });
  expect(() => needPrograms('anything')).not.toThrow();
});
