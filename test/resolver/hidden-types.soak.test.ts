/**
 * Hidden types: for any cluster the table and the chain agree on the remaining records, and the existence of names is unchanged.
 */
import { typeOfData } from '@portolan/dns/record-data.ts';
import { RCODE, TYPE } from '@portolan/dns/types.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { AskableCluster, question } from '@portolan/kubernetes/plugins/kubernetes/testing/askable-cluster.ts';
import {
  arbitraryObjects,
  arbitraryQuestionName,
  LIKELY_NAMES,
} from '@portolan/kubernetes/testing/arbitrary-objects.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { answerFromZone, makeAddress } from '@portolan/testing/upstream/reactions.ts';
import fc from 'fast-check';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { recordMessage } from '../golden/recorded-answer.ts';
import { endAllPrograms, servePortolan } from '../support/portolan.ts';

afterAll(endAllPrograms);

const { A, AAAA, SRV, CNAME, PTR, TXT } = TYPE;
const arbitraryType = fc.constantFrom(A, AAAA, SRV, CNAME, PTR, TXT);
const arbitrarySetting = fc.record({
  objects: arbitraryObjects,
  hidden: fc.constantFrom<(readonly number[])[]>([AAAA], [A], [A, AAAA], [SRV], [SRV, PTR]),
  questions: fc.array(fc.tuple(arbitraryQuestionName, arbitraryType), { minLength: 20, maxLength: 20 }),
});
const LIKELY = LIKELY_NAMES.flatMap((name) => [A, AAAA, SRV].map((type) => [name, type] as const));

describe.each(['coredns', 'kube-dns'] as const)('%s: for any cluster', (dialect) => {
  it('the table and the chain hide the same, and names exist as before', { timeout: 60_000 }, async () => {
    let answered = 0;
    let filteredByTable = 0;
    await fc.assert(
      fc.asyncProperty(arbitrarySetting, async ({ objects, hidden, questions }) => {
        const [all, some] = [
          new AskableCluster(dialect),
          new AskableCluster(dialect, { filteredTypes: new Set(hidden) }),
        ];
        all.list(objects);
        some.list(objects);
        for (const [name, type] of [...LIKELY, ...questions]) {
          const asked = question(name, type);
          const byTable = some.askTable(asked);
          const byChain = await some.askChain(asked);
          if (byTable !== undefined) {
            answered += 1;
            expect(recordMessage(byTable)).toEqual(recordMessage(byChain));
            if (hidden.includes(type) && byTable.header.rcode === RCODE.NOERROR) filteredByTable += 1;
          }
          const records = [...byChain.answers, ...byChain.additionals];
          expect(records.filter(({ data }) => hidden.includes(typeOfData(data)))).toEqual([]);
          expect(byChain.header.rcode).toBe((await all.askChain(asked)).header.rcode);
        }
      }),
      { numRuns: 30 },
    );
    expect(answered).toBeGreaterThan(10);
    expect(filteredByTable).toBeGreaterThan(10);
  });
});

describe('filter-AAAA in a file of dnsmasq options', () => {
  it('hides IPv6 of services and of the world, and nothing else', async () => {
    const world = await LoopbackUpstream.start(
      answerFromZone({
        'www.example. A': [makeAddress('192.0.2.1')],
        'www.example. AAAA': [makeAddress('2001:db8::1')],
        'v6.example. AAAA': [makeAddress('2001:db8::1')],
      }),
    );
    onTestFinished(() => world.stop());
    const folder = await makeTemporaryFolder();
    const conf = await folder.write('portolan.conf', 'filter-AAAA\n');
    const serving = await servePortolan(['--example', '--upstream', world.address, '--dnsmasq-conf', conf]);
    await serving.program.heard('cluster listed');
    for (const transport of ['udp', 'tcp'] as const) {
      const short = (name: string, type: 'A' | 'AAAA') => askShort(serving, name, type, { transport });
      expect(await short('storefront.shop.svc.cluster.local', 'A')).toBe('10.96.20.11');
      expect(await short('storefront.shop.svc.cluster.local', 'AAAA')).toBe('NODATA');
      expect(await short('gone.shop.svc.cluster.local', 'AAAA')).toBe('NXDOMAIN');
      expect(await short('www.example', 'A')).toBe('192.0.2.1');
      expect(await short('www.example', 'AAAA')).toBe('NODATA');
      expect(await short('v6.example', 'A')).toBe('NODATA');
      expect(await short('v6.example', 'AAAA')).toBe('NODATA');
      expect(await short('gone.example', 'AAAA')).toBe('NXDOMAIN');
    }
  });
});
