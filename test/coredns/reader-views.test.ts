/**
 * Readers choose the server block by the client's address, as the handler chain does. What depends on more than the address is left to
 * the chain.
 */
import { presentRecord } from '@portolan/dns/present.ts';
import { describe, expect, it } from 'vitest';
import { makePacket, ReaderSubject } from './reader-subject.ts';

const block = (address: string, view?: string): string =>
  [
    'a.test:53 {',
    ...(view === undefined ? [] : [`view ${view.length}v {`, `expr ${view}`, '}']),
    `hosts {\n${address} www.a.test\nfallthrough\n}`,
    '}\n',
  ].join('\n');

async function start(corefile: string): Promise<ReaderSubject> {
  const subject = new ReaderSubject(corefile);
  await subject.engine.start();
  return subject;
}

const WWW = makePacket('www.a.test', 'A');

/** The answer of a reader to the client 192.0.2.77; undefined if it leaves the question to the chain. */
function ofReader(subject: ReaderSubject): string | undefined {
  return subject.askTable(WWW)?.answers.map(presentRecord).join();
}

async function ofChain(subject: ReaderSubject): Promise<string | undefined> {
  return (await subject.askChain(WWW))?.answers.map(presentRecord).join();
}

describe('readers', () => {
  it.each([
    ["incidr(client_ip(), '192.0.2.0/24')", '198.51.100.1'],
    ["incidr(client_ip(), '192.0.2.0/25') && !incidr(client_ip(), '192.0.2.64/26')", '198.51.100.2'],
    ["client_ip() in ['192.0.2.77']", '198.51.100.1'],
    ["client_ip() == '192.0.2.78'", '198.51.100.2'],
    ['true', '198.51.100.1'],
  ])('answer from the block that is for the client: %s', async (view, address) => {
    const subject = await start(block('198.51.100.1', view) + block('198.51.100.2'));
    expect(ofReader(subject)).toContain(address);
    expect(await ofChain(subject)).toBe(ofReader(subject));
  });

  it.each([["type() == 'A'"], ["name() == 'www.a.test.' && client_ip() != ''"]])(
    'leave to the chain what depends on the question: %s',
    async (view) => {
      const subject = await start(block('198.51.100.1', view) + block('198.51.100.2'));
      expect(ofReader(subject)).toBeUndefined();
      expect(await ofChain(subject)).toContain('198.51.100.1');
      // Answers of the chain are not repeated to clients of another block.
      expect(ofReader(subject)).toBeUndefined();
    },
  );

  it('answer from the parent zone where no view is for the client', async () => {
    const never = block('198.51.100.1', "incidr(client_ip(), '10.0.0.0/8')");
    const parent = '.:53 {\nhosts {\n198.51.100.3 www.a.test\nfallthrough\n}\n}\n';
    const subject = await start(never + parent);
    expect(ofReader(subject)).toContain('198.51.100.3');
    expect(await ofChain(subject)).toBe(ofReader(subject));
  });

  it('repeat derived answers only of the block that made them', async () => {
    const made = (view: string, address: string) =>
      `a.test:53 {\nview v {\nexpr incidr(client_ip(), '${view}')\n}\ntemplate IN A {\nanswer "{{ .Name }} 50 IN A ${address}"\n}\n}\n`;
    const subject = await start(
      made('10.0.0.0/8', '198.51.100.1') + made('192.0.2.0/24', '198.51.100.2').replace('view v', 'view w'),
    );
    expect(ofReader(subject)).toBeUndefined();
    expect(await ofChain(subject)).toContain('198.51.100.2');
    expect(ofReader(subject)).toContain('198.51.100.2');
  });

  it('leave the zones of views to the chain where a block logs: its lines depend on the view', async () => {
    const view = block('198.51.100.1', "incidr(client_ip(), '192.0.2.0/24')");
    const subject = await start(`${view}b.test:53 {\nlog\nwhoami\n}\n`);
    expect(ofReader(subject)).toBeUndefined();
    expect(await ofChain(subject)).toContain('198.51.100.1');
  });
});
