/**
 * Converts replies of plugins of others to answers, and back.
 */
import type { Reply, Rr } from '@portolan/plugin';
import type { Answer } from '../../chain/answer.ts';
import { wholeAnswerOf } from '../../chain/whole-answer.ts';
import { parseRecord } from '../../sources/zone-files/zone-file.ts';
import { wholeRcodeOf } from '../../wire/edns.ts';
import { decodeMessage } from '../../wire/message.ts';
import { typeName } from '../../wire/mnemonics.ts';
import { parseName } from '../../wire/name.ts';
import { presentData, typeOfData } from '../../wire/record-data.ts';
import { type Message, RCODE, type ResourceRecord } from '../../wire/types.ts';

/** A reply that the contract does not allow. The question is answered SERVFAIL, and counts as a crash. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError';
}

/** Answers behind replies of the kind `opaque`. */
const answers = new WeakMap<object, Answer>();

/** The answer of other plugins, as a plugin of others sees it. */
export function showAnswer(answer: Answer): Reply {
  if (answer.kind === 'drop') return { kind: 'drop' };
  const whole = wholeAnswerOf(answer);
  const reply: Reply = {
    kind: 'opaque',
    rcode: rcodeOf(answer) ?? whole.rcode,
    records: whole.answers.map(showRecord),
    authorities: whole.authorities.map(showRecord),
  };
  answers.set(reply, answer);
  return reply;
}

/** Only codes, which the server turns into responses. */
function rcodeOf({ kind }: Answer): number | undefined {
  if (kind === 'refused' || kind === 'overloaded') return RCODE.REFUSED;
  if (kind === 'servfail') return RCODE.SERVFAIL;
  if (kind === 'notimp') return RCODE.NOTIMP;
  return kind === 'formerr' ? RCODE.FORMERR : undefined;
}

/** @throws ReplyError */
export function answerOf(reply: Reply): Answer {
  switch (reply.kind) {
    case 'opaque': {
      const answer = answers.get(reply);
      if (answer === undefined) throw new ReplyError('an opaque reply that next did not give');
      return answer;
    }
    case 'records': {
      const { records, extra = [], authoritative = true } = reply;
      return {
        ...{ kind: 'records', records: records.map(readRecord), additionals: extra.map(readRecord) },
        authoritative,
      };
    }
    case 'denied': {
      const { exists, soa } = reply;
      const kind = exists ? 'nodata' : 'nxdomain';
      const written = soa === undefined ? undefined : readRecord(soa);
      return { kind, aliases: [], soa: written, authoritative: true };
    }
    case 'rcode':
      return { kind: kindOf(reply.rcode), ...(reply.reason !== undefined && { reason: reply.reason }) };
    case 'drop':
      return { kind: 'drop' };
    case 'message':
      return answerWith(decodeMessage(reply.wire));
    default:
      throw new ReplyError(`a reply without a known kind: ${JSON.stringify(reply)}`);
  }
}

function kindOf(rcode: number): 'refused' | 'servfail' | 'notimp' | 'formerr' {
  if (rcode === RCODE.REFUSED) return 'refused';
  if (rcode === RCODE.SERVFAIL) return 'servfail';
  if (rcode === RCODE.NOTIMP) return 'notimp';
  if (rcode === RCODE.FORMERR) return 'formerr';
  throw new ReplyError(`a response code that is none of 1, 2, 4, 5: ${rcode}`);
}

/** The reply of a server, as a plugin of others sees it. */
export function showMessage(message: Message): Reply {
  return showAnswer(answerWith(message));
}

function answerWith(message: Message): Answer {
  const { header, answers: records, authorities, additionals } = message;
  const { authoritative, truncated, recursionAvailable, authenticData } = header;
  return {
    kind: 'message',
    rcode: wholeRcodeOf(message),
    ...{ authoritative, truncated, recursionAvailable, authenticData },
    ...{ answers: records, authorities, additionals },
  };
}

function readRecord({ name, type, ttl, data }: Rr): ResourceRecord {
  const text = `${name} ${ttl} IN ${typeName(type)} ${data}`;
  const record = parseRecord(text);
  if ('fault' in record) throw new ReplyError(`not a record: ${text}: ${record.fault}`);
  return record;
}

/** A record of a zone file, for plugins that read some. @throws Error with its fault */
export function readRecordText(text: string, origin: string): Rr {
  const record = parseRecord(text, parseName(origin));
  if (!('fault' in record)) return showRecord(record);
  throw new Error(
    `not a record: ${record.word === undefined ? record.fault : `${record.fault}: ${record.word}`}`,
  );
}

function showRecord({ name, ttl, data }: ResourceRecord): Rr {
  return { name, type: typeOfData(data), ttl, data: presentData(data) };
}
