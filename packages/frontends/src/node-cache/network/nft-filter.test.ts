import { readFileSync } from 'node:fs';
import { ProgramError } from '@portolan/kernel/base/run-program.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { hasStarted, isRunning, NOISE, putInPath } from '@portolan/kernel/base/testing/path-programs.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { NftFilter } from './nft-filter.ts';
import { listPacketRules } from './packet-rules.ts';

/** Like `nft -i`: it goes on after an error, and ends with its input. */
const READ = `echo $$ > "\${0%/*}/pid"
while read -r line; do case $line in`;
const TABLE = `"table inet "*) rest=\${line#table inet }; name=\${rest%% *} ;;`;
const REFUSED = `"table inet "*) echo 'Error: Could not process rule: Operation not permitted' >&2 ;;`;
const LIST = `"list tables") echo 'table ip nat'; [ -z "$name" ] || echo "table inet $name" ;;`;
const DESCRIBE = `describe*) echo 'payload expression, datatype integer (integer), 8 bits' ;;`;
const END = 'esac; done';
const SETS = [READ, TABLE, LIST, DESCRIBE, END].join('\n');

async function start(script: string | undefined) {
  const folder = await putInPath(script === undefined ? {} : { nft: script });
  const clock = new ManualClock();
  const endpoints = { addresses: ['169.254.20.10'], dnsPort: 53, healthPort: 8080 };
  const filter = new NftFilter(listPacketRules(endpoints), clock);
  onTestFinished(() => filter.remove());
  return { filter, clock, file: `${folder}/pid` };
}

describe('a table of nftables', () => {
  it.each([
    ['that warns', `${NOISE}${SETS}`],
    ['that warns when it has answered', SETS.replace('name=', `${NOISE.trim()}; name=`)],
    [
      'that repeats what it reads behind a prompt',
      SETS.replace('case', 'printf "nft> "; echo "$line"; case'),
    ],
    ['that a wrapper starts', `${NOISE}sh -c '${SETS.replaceAll("'", '"')}' "$0"`],
  ])('is set by a program %s', async (_title, script) => {
    const { filter, file } = await start(script);
    expect(await filter.set()).toBe(true);
    expect(filter.isSet).toBe(true);
    expect(await filter.set()).toBe(false);
    await filter.remove();
    expect(filter.isSet).toBe(false);
    await waitUntil('the end of nft', () => !isRunning(file));
  });

  it('is not set where the program lists none, and its last words say why', async () => {
    const { filter, file } = await start(`${NOISE}${[READ, REFUSED, LIST, DESCRIBE, END].join('\n')}`);
    await expect(filter.set()).rejects.toThrow(/^nft -i: the table is not set: .*Operation not permitted$/);
    expect(filter.isSet).toBe(false);
    expect(isRunning(file)).toBe(false);
  });

  it.each([
    ['ends', `${NOISE}exit 1`, /^nft -i: ended with exit status 1: .*all is well$/],
    ['is killed', 'kill -KILL $$', 'nft -i: ended with SIGKILL'],
  ])('is not set by a program that %s', async (_title, script, message) => {
    const { filter } = await start(script);
    await expect(filter.set()).rejects.toThrow(ProgramError);
    await expect(filter.set()).rejects.toThrow(message);
    expect(filter.isSet).toBe(false);
  });

  it('is not set by a program that hangs, which is killed', async () => {
    const { filter, clock, file } = await start(`${NOISE}echo $$ > "\${0%/*}/pid"; sleep 600 > /dev/null`);
    const setting = filter.set();
    setting.catch(() => {});
    await waitUntil('nft', () => hasStarted(file));
    expect(filter.isSet).toBe(false);
    clock.advance(5_000);
    await expect(setting).rejects.toThrow(/^nft -i: no answer within 5 s/);
    expect(isRunning(file)).toBe(false);
  });

  it('is not set without the program', async () => {
    const { filter } = await start(undefined);
    process.env['PATH'] = '/nonexistent';
    await expect(filter.set()).rejects.toThrow('nft -i: spawn nft ENOENT');
  });

  it('is gone with its program', async () => {
    const { filter, file } = await start(SETS);
    await filter.set();
    process.kill(Number(readFileSync(file, 'utf8')), 'SIGKILL');
    await waitUntil('no table', () => !filter.isSet);
    expect(await filter.set()).toBe(true);
  });
});
