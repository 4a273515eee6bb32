/**
 * Names of a zone file have the letters that CoreDNS gives them, also in answers that readers repeat for questions in other letters.
 */
import type { Message } from '@portolan/dns/types.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { ALL_RESTORED, NOTHING_RESTORED } from '@portolan/kernel/deviations/table.ts';
import { afterAll, describe, expect, it } from 'vitest';
import { makePacket, ReaderSubject, withOpt } from './reader-subject.ts';

const ADDRESSES = 40;
const ZONE = `$ORIGIN example.com.
$TTL 300
@ SOA ns.example.com. admin.example.com. 1 2 3 4 5
@ NS Ns.example.com.
@ NS Other.example.com.
ns A 192.0.2.53
other A 192.0.2.54
Two AAAA 2001:db8::1
Two AAAA 2001:db8::2
Three A 192.0.2.1
Three A 192.0.2.2
Three A 192.0.2.3
Three TXT "one"
Three TXT "two"
Three MX 10 Mail.example.com.
Three MX 20 Mail.example.com.
One A 192.0.2.9
Alias CNAME Three
Srv SRV 1 2 3 Three
Srv SRV 2 2 3 Two
Svc SVCB 1 Three.EXAMPLE.com. alpn=h2
Svc SVCB 2 Two.EXAMPLE.com. alpn=h2
${Array.from({ length: ADDRESSES }, (_, index) => `many A 10.0.0.${index}`).join('\n')}
`;
const folder = await makeTemporaryFolder(afterAll);
const file = await folder.write('db.example.com', ZONE);

const NAMES = ['example.com', 'two', 'three', 'one', 'alias', 'srv', 'svc', 'missing'].map((label) =>
  label.includes('.') ? label : `${label}.example.com`,
);
const TYPES = ['A', 'AAAA', 'TXT', 'MX', 'NS', 'SRV', 'SOA', 'SVCB'];

const inOtherLetters = (name: string) =>
  name.replace(/[a-z]/g, (letter, at: number) => (at % 2 === 0 ? letter.toUpperCase() : letter));

/** All names in their letters. Sets of addresses may begin anywhere. */
const toComparable = ({
  header: { id: _, ...header },
  questions,
  answers,
  authorities,
  additionals,
}: Message) => ({
  header,
  questions,
  answers: answers.map((record) => JSON.stringify(record)).sort(),
  authorities,
  additionals: additionals.map((record) => JSON.stringify(record)).sort(),
});

describe.each([
  ['by default', NOTHING_RESTORED],
  ['with -compat', ALL_RESTORED],
])('a zone file %s', (_, restored) => {
  it.each(['', 'loadbalance'])('has its own letters whoever asks: %s', async (line) => {
    const corefile = `.:53 {\n ${line}\n file ${file} example.com\n}\n`;
    const subject = new ReaderSubject(corefile, new ManualClock(), restored);
    await subject.engine.start();
    let repeated = 0;
    for (const name of NAMES)
      for (const type of TYPES) {
        await subject.askChain(makePacket(name, type, withOpt(1232)));
        for (const asked of [inOtherLetters(name), name.toUpperCase(), name]) {
          const packet = makePacket(asked, type, withOpt(1232));
          const read = subject.askTable(packet);
          const chained = await subject.askChain(packet);
          if (read === undefined) continue;
          repeated += 1;
          expect(toComparable(read), `${asked} ${type}`).toEqual(chained && toComparable(chained));
          // SRV records keep the letters of the file.
          if (type !== 'SRV')
            for (const { name: owner } of read.answers) expect(owner).toBe(owner.toLowerCase());
        }
      }
    expect(repeated).toBeGreaterThan(NAMES.length);
  });

  it('has the letters of the question for more addresses than fit into 512 octets', async () => {
    const corefile = `.:53 {\n file ${file} example.com\n}\n`;
    const subject = new ReaderSubject(corefile, new ManualClock(), restored);
    await subject.engine.start();
    await subject.askChain(makePacket('many.example.com', 'A', withOpt(1232)));
    const read = subject.askTable(makePacket('MANY.example.com', 'A', withOpt(1232)));
    expect(read?.answers.map(({ name }) => name)).toEqual(
      Array.from({ length: ADDRESSES }, () => 'MANY.example.com.'),
    );
  });
});
