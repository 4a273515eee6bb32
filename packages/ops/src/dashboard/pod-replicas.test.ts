import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { hasStarted, isRunning, NOISE, putInPath } from '@portolan/kernel/base/testing/path-programs.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { describe, expect, it } from 'vitest';
import { findPods } from './pod-replicas.ts';

const PLACE = { namespace: 'kube-system', selector: 'app=dns', container: undefined, context: undefined };
const HANGS = `sh -c 'echo $$ > "\${0%/*}/pid"; exec sleep 600' "$0"; true`;

/** @param script of `kubectl` */
async function start(script: string) {
  const folder = await putInPath({ kubectl: script });
  const clock = new ManualClock();
  const abort = new AbortController();
  const found = findPods(PLACE, { command: 'kubectl', clock })(abort.signal);
  found.catch(() => {});
  return { found, clock, abort, file: `${folder}/pid` };
}

const LISTS = `case " $* " in *' get '*) printf 'b\\na\\n' ;; *) echo '{"ready":true}' ;; esac`;

describe('the replicas in pods', () => {
  it('are found and asked although kubectl warns', async () => {
    const { found, abort } = await start(`${NOISE}${LISTS}`);
    const replicas = await found;
    expect(replicas.map(({ name }) => name)).toEqual(['a', 'b']);
    const replies: unknown[] = [];
    for await (const reply of replicas[0]?.ask({ verb: 'status', words: [] }, abort.signal) ?? [])
      replies.push(reply);
    expect(replies).toEqual([{ ready: true }]);
  });

  it('are not found where kubectl fails, with the end of what it wrote', async () => {
    const { found } = await start(`${NOISE}echo a; echo 'Forbidden: pods' >&2; exit 1`);
    await expect(found).rejects.toThrow(/^kubectl: .*all is well; Forbidden: pods$/);
  });

  it('are not found without kubectl', async () => {
    await expect(
      findPods(PLACE, { command: 'no-such-kubectl', clock: new ManualClock() })(new AbortController().signal),
    ).rejects.toThrow('ENOENT');
  });

  it('are not waited for without end: a kubectl that hangs is killed, with what it has started', async () => {
    const { found, clock, file } = await start(`${NOISE}${HANGS}`);
    await waitUntil('kubectl', () => hasStarted(file));
    clock.advance(60_000);
    await expect(found).rejects.toThrow('kubectl: no answer within 60 s');
    await waitUntil('its end', () => !isRunning(file));
  });

  it('are not waited for when nobody looks any more', async () => {
    const { found, abort, file } = await start(HANGS);
    await waitUntil('kubectl', () => hasStarted(file));
    abort.abort();
    await expect(found).rejects.toThrow('no pod runs');
    await waitUntil('its end', () => !isRunning(file));
  });
});
