import { type Message, type RecordData, TYPE } from '@portolan/dns/types.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { composeChain } from '@portolan/kernel/chain/handler.ts';
import {
  addresses,
  denial,
  makeHandler,
  makeQuery,
  record,
  told,
} from '@portolan/kernel/chain/testing/queries.ts';
import { describe, expect, it } from 'vitest';
import { createTypeFilter, hideTypes } from './filtered-types.ts';

const V4: RecordData = { kind: 'A', address: '192.0.2.1' };
const V6: RecordData = { kind: 'AAAA', address: '2001:db8::1' };
const TEXT: RecordData = { kind: 'TXT', strings: [] };

function reply(answers: readonly RecordData[], additionals: readonly RecordData[] = []): Message {
  const { question } = makeQuery('a.example.');
  const records = (data: readonly RecordData[]) => data.map((each) => record('a.example.', each));
  // Fields that these tests do not need are left out.
  return {
    questions: [question],
    answers: records(answers),
    additionals: records(additionals),
  } as unknown as Message;
}

const kinds = ({ answers, additionals }: Message) =>
  [answers, additionals].map((records) => records.map(({ data }) => data.kind).join());

describe('hidden types', () => {
  it('are taken out of answers and of what goes along', () => {
    const { question } = makeQuery('a.example.', 'SRV');
    const hidden = new Set<number>([TYPE.AAAA]);
    expect(kinds(hideTypes(question, reply([V4, V6, TEXT], [V6, V4]), hidden))).toEqual(['A,TXT', 'A']);
    const untouched = reply([V4], [V4]);
    expect(hideTypes(question, untouched, hidden)).toBe(untouched);
  });

  it('with ANY among them, leave of answers to ANY what people need, and all others alone', () => {
    const hidden = new Set<number>([TYPE.ANY]);
    const whole = reply([V4, V6, TEXT]);
    expect(kinds(hideTypes(makeQuery('a.example.', 'ANY').question, whole, hidden))).toEqual(['A,AAAA', '']);
    expect(hideTypes(makeQuery('a.example.', 'TXT').question, whole, hidden)).toBe(whole);
  });
});

describe('the handler that hides', () => {
  const ask = async (type: string, answers: (type: number) => Answer): Promise<Answer> => {
    const hider = createTypeFilter(new Set<number>([TYPE.AAAA]), () => true);
    return composeChain([hider, makeHandler(({ question }) => answers(question.type))])(
      makeQuery('a.example.', type),
    );
  };

  it('asks whether a name exists, and never for a hidden type', async () => {
    const asked: number[] = [];
    const answer = await ask('AAAA', (type) => {
      asked.push(type);
      return denial('nxdomain');
    });
    expect(told(answer)).toEqual(['nxdomain']);
    expect(asked).toEqual([TYPE.HINFO]);
  });

  it('lets other types through, without what is hidden beside them', async () => {
    expect(await ask('A', () => addresses('a.example.', '192.0.2.1'))).toEqual(
      addresses('a.example.', '192.0.2.1'),
    );
    const both = [record('b.example.', V4), record('b.example.', V6)];
    const answer = await ask('SRV', () => ({
      kind: 'records',
      records: [],
      additionals: both,
      authoritative: true,
    }));
    expect(answer).toMatchObject({ additionals: [both[0]] });
  });
});
