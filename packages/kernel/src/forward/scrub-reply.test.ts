import { parseName } from '@portolan/dns/name.ts';
import { CLASS, type Message, type RecordData, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scrubReply } from './scrub-reply.ts';

const record = (name: string, data: RecordData, ttl = 60): ResourceRecord => ({
  name: parseName(name),
  class: CLASS.IN,
  ttl,
  data,
});
const a = (name: string, address = '192.0.2.1') => record(name, { kind: 'A', address });
const cname = (name: string, target: string) => record(name, { kind: 'CNAME', target: parseName(target) });
const ns = (name: string, target: string) => record(name, { kind: 'NS', target: parseName(target) });
const soa = (name: string) =>
  record(name, {
    kind: 'SOA',
    primary: parseName('ns.example.'),
    mailbox: parseName('hostmaster.example.'),
    serial: 1,
    refresh: 1,
    retry: 1,
    expire: 1,
    minimum: 30,
  });

function message(sections: Partial<Pick<Message, 'answers' | 'authorities' | 'additionals'>>): Message {
  const flags = { authoritative: false, truncated: false, authenticData: false, checkingDisabled: false };
  const header = {
    id: 1,
    response: true,
    opcode: 0,
    recursionDesired: true,
    recursionAvailable: true,
    rcode: 0,
  };
  return {
    header: { ...flags, ...header },
    questions: [],
    answers: [],
    authorities: [],
    additionals: [],
    edns: undefined,
    ...sections,
  };
}

const ask = (name: string, type: number = TYPE.A) => ({ name: parseName(name), type, class: CLASS.IN });

function kept(
  name: string,
  sections: Parameters<typeof message>[0],
  type: number = TYPE.A,
): readonly string[] {
  const { message: clean } = scrubReply(ask(name, type), message(sections));
  return [...clean.answers, ...clean.authorities, ...clean.additionals].map(
    (each) => `${each.name} ${each.data.kind}`,
  );
}

describe('sanitise', () => {
  it('leaves a plain answer as it is, the same object', () => {
    const plain = message({ answers: [a('www.example.'), a('WWW.Example.', '192.0.2.2')] });
    expect(scrubReply(ask('www.example.'), plain)).toMatchObject({ message: plain, dropped: 0 });
    expect(scrubReply(ask('www.example.'), plain).message).toBe(plain);
  });

  it('follows CNAMEs in whatever order they come, and puts them in theirs', () => {
    const answers = [a('c.example.'), cname('B.example.', 'c.example.'), cname('a.example.', 'b.example.')];
    expect(kept('a.example.', { answers })).toEqual(['a.example. CNAME', 'B.example. CNAME', 'c.example. A']);
  });

  it('drops what is not on the way', () => {
    const answers = [cname('a.example.', 'b.example.'), a('b.example.'), a('evil.example.'), a('a.example.')];
    expect(kept('a.example.', { answers })).toEqual(['a.example. CNAME', 'b.example. A']);
    expect(scrubReply(ask('a.example.'), message({ answers })).dropped).toBe(2);
  });

  it('drops other types, other classes and second CNAMEs', () => {
    const other = { ...a('a.example.'), class: CLASS.CH };
    expect(kept('a.example.', { answers: [other, ns('a.example.', 'ns.example.')] })).toEqual([]);
    const two = [cname('a.example.', 'b.example.'), cname('a.example.', 'c.example.')];
    expect(kept('a.example.', { answers: two })).toEqual(['a.example. CNAME']);
  });

  it('ends where CNAMEs go in a circle, and says so', () => {
    const circle = [cname('a.example.', 'b.example.'), cname('b.example.', 'a.example.')];
    expect(kept('a.example.', { answers: circle })).toEqual(['a.example. CNAME', 'b.example. CNAME']);
    expect(scrubReply(ask('a.example.'), message({ answers: circle })).isLoop).toBe(true);
    const itself = [cname('a.example.', 'a.example.')];
    expect(scrubReply(ask('a.example.'), message({ answers: itself })).isLoop).toBe(true);
    expect(scrubReply(ask('a.example.'), message({ answers: circle.slice(1) })).isLoop).toBe(false);
  });

  it('follows as many CNAMEs as a message holds', () => {
    const chain = Array.from({ length: 3000 }, (_, index) => cname(`n${index}.`, `n${index + 1}.`));
    const answers = [...chain, a('n3000.')];
    const sanitised = scrubReply(ask('n0.'), message({ answers, authorities: [ns('n3000.', 'ns.n3000.')] }));
    expect([sanitised.dropped, sanitised.isLoop]).toEqual([0, false]);
    expect(sanitised.message.answers).toEqual(answers);
  });

  it('follows the one of several CNAMEs that leads on', () => {
    const answers = [cname('a.example.', 'b.example.'), cname('a.example.', 'c.example.'), a('c.example.')];
    expect(kept('a.example.', { answers })).toEqual(['a.example. CNAME', 'c.example. A']);
  });

  it('answers a question for CNAME with the CNAME alone, and one for ANY with all of the name', () => {
    const answers = [cname('a.example.', 'b.example.'), a('b.example.')];
    expect(kept('a.example.', { answers }, TYPE.CNAME)).toEqual(['a.example. CNAME']);
    const all = [a('a.example.'), ns('a.example.', 'ns.example.'), a('b.example.')];
    expect(kept('a.example.', { answers: all }, TYPE.ANY)).toEqual(['a.example. A', 'a.example. NS']);
  });

  it('keeps a DNAME with the CNAME that was made from it', () => {
    const dname = record('example.', { kind: 'DNAME', target: parseName('example.net.') });
    const answers = [dname, cname('a.example.', 'a.example.net.'), a('a.example.net.')];
    expect(kept('a.example.', { answers })).toEqual([
      'example. DNAME',
      'a.example. CNAME',
      'a.example.net. A',
    ]);
  });

  it('keeps signatures of what was asked for, and of no other type', () => {
    const signature = (type: number) =>
      record('a.example.', { kind: 'unknown', type: 46, bytes: Uint8Array.of(0, type, 8, 2) });
    const answers = [a('a.example.'), signature(TYPE.A), signature(TYPE.TXT)];
    expect(kept('a.example.', { answers })).toEqual(['a.example. A', 'a.example. unknown']);
  });

  it('keeps authorities at or above the names of the answer', () => {
    const authorities = [
      soa('example.'),
      ns('.', 'ns.'),
      soa('example.net.'),
      ns('sub.a.example.', 'ns.'),
      a('a.example.'),
    ];
    expect(kept('a.example.', { authorities })).toEqual(['example. SOA', '. NS']);
    const answers = [cname('a.example.', 'b.example.net.')];
    expect(kept('a.example.', { answers, authorities: [soa('example.net.')] })).toEqual([
      'a.example. CNAME',
      'example.net. SOA',
    ]);
  });

  it('keeps the addresses of names that the kept records speak of', () => {
    const answers = [
      record('x.example.', { kind: 'MX', preference: 1, exchange: parseName('Mail.example.') }),
    ];
    const additionals = [a('mail.EXAMPLE.'), a('evil.example.'), ns('mail.example.', 'ns.')];
    expect(kept('x.example.', { answers, additionals }, TYPE.MX)).toEqual([
      'x.example. MX',
      'mail.EXAMPLE. A',
    ]);
  });

  it('gives nothing but what it was given, and the same when done twice', () => {
    const name = fc.constantFrom('a.example.', 'b.example.', 'C.example.', 'example.', 'net.');
    const any = fc.oneof(
      fc.tuple(name, name).map(([owner, target]) => cname(owner, target)),
      fc.tuple(name, name).map(([owner, target]) => ns(owner, target)),
      name.map((owner) => a(owner)),
      name.map(soa),
    );
    const section = fc.array(any, { maxLength: 8 });
    fc.assert(
      fc.property(name, section, section, section, (asked, answers, authorities, additionals) => {
        const before = message({ answers, authorities, additionals });
        const once = scrubReply(ask(asked), before);
        const all = [...answers, ...authorities, ...additionals];
        const left = [...once.message.answers, ...once.message.authorities, ...once.message.additionals];
        expect(left.every((each) => all.includes(each))).toBe(true);
        expect(left.length + once.dropped).toBe(all.length);
        expect(scrubReply(ask(asked), once.message)).toEqual({ ...once, dropped: 0 });
      }),
    );
  });
});
