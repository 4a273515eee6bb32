import { parseAddress } from '@portolan/dns/address.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { describe, expect, it } from 'vitest';
import type { HostsManner } from '../hosts/hosts-manner.ts';
import { LocalData } from './local-data.ts';
import { hostsOnly } from './local-plan.ts';

const MANNER: HostsManner = {
  readAddress: parseAddress,
  readName: () => ({ kind: 'other', warning: 'name' }),
  words: 'octets',
  reportsAddresses: true,
  isHostsFile: () => true,
};

/** Each look at it takes a millisecond, so that work pauses often. */
class SlowClock extends ManualClock {
  #looks = 0;

  override monotonic(): number {
    this.#looks += 1;
    return super.monotonic() + this.#looks;
  }
}

const makeHostsText = (last: number) =>
  Array.from({ length: 20_000 }, (_, index) => `10.0.0.${last} n${index}\n`).join('');

async function readNames() {
  const folder = await makeTemporaryFolder();
  const path = await folder.write('hosts', makeHostsText(1));
  const clock = new SlowClock();
  const table = new TableWriter({ reservation: 2 ** 26, cacheOctets: 2 ** 16, readers: 1 });
  const data = new LocalData({
    plan: { ...hostsOnly(5), localisesQueries: true },
    hostsPaths: [path],
    manner: MANNER,
    table,
    networks: [{ address: '10.0.0.0', prefix: 16 }],
    onShow: () => true,
    onChange: () => {},
    clock,
    log: silentLog,
  });
  await data.start();
  /** Changes the file, and waits until its names are shown. */
  const change = async (last: number) => {
    const before = data.names;
    await folder.write('hosts', makeHostsText(last));
    data.reload();
    const step = () => clock.advance(100);
    await waitUntil('other names', () => data.names !== before, { step });
  };
  return { data, table, change };
}

describe('the memory of local names', () => {
  it('is given back while publications for networks are compared', async () => {
    const { data, table, change } = await readNames();
    const { recordOctets } = table.statistics();
    await change(2);
    expect(table.statistics().recordOctets, 'both lists stand').toBeGreaterThan(recordOctets);
    data.release();
    expect(table.statistics()).toMatchObject({ records: 0, recordOctets: 0, awaitingReaders: 0 });
  });
});
