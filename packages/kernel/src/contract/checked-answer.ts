/**
 * Answers of plugins from outside: whatever they return becomes a well-formed answer, or an error.
 */
import { parseName } from '@portolan/dns/name.ts';
import { OctetReader } from '@portolan/dns/octet-reader.ts';
import { OctetWriter } from '@portolan/dns/octet-writer.ts';
import { readData, typeOfData, writeData } from '@portolan/dns/record-data.ts';
import type { Answer, RecordData, ResourceRecord } from '@portolan/plugin';

/** An answer that the contract does not allow. The question is answered SERVFAIL, and counts as a crash. */
export class PluginAnswerError extends Error {
  override readonly name = 'PluginAnswerError';
}

const MAX_TTL = 2 ** 31 - 1;
const MAX_UINT16 = 0xffff;
/** RFC 6891 section 6.1.3: the whole response code has twelve bits. */
const MAX_RCODE = 0xfff;
/**
 * What one message can hold, in each section: 65,535 octets without the header, in records of 11 octets. That is the smallest one, of the
 * root and without data. An iterable may have no end.
 */
const MAX_RECORDS = 5_956;
/** Each of them takes an octet of the record's data at least. */
const MAX_DATA_PARTS = MAX_UINT16;

let writer: OctetWriter | undefined;

/** @throws PluginAnswerError */
export function checkAnswer(answer: Answer): Answer {
  switch (answer?.kind) {
    case 'records': {
      const { records, additionals = [], authoritative, truncated, lifetime, extendedError } = answer;
      return {
        kind: 'records',
        records: checkRecords(records),
        additionals: checkRecords(additionals),
        authoritative: authoritative === true,
        truncated: truncated === true,
        ...checkLifetime(lifetime),
        ...checkExtendedError(extendedError),
      };
    }
    case 'alias': {
      const { records, target, unanswered, soa, authoritative } = answer;
      return {
        kind: 'alias',
        records: checkRecords(records),
        target: checkName(target),
        unanswered: unanswered === 'nodata' ? 'nodata' : 'alias',
        soa: checkRecord(soa),
        authoritative: authoritative === true,
      };
    }
    case 'nodata':
    case 'nxdomain': {
      const { kind, aliases = [], soa, authoritative, lifetime } = answer;
      return {
        kind,
        aliases: checkRecords(aliases),
        soa: soa === undefined ? undefined : checkRecord(soa),
        authoritative: authoritative === true,
        ...checkLifetime(lifetime),
      };
    }
    case 'message': {
      const { answers, authorities, additionals, rcode } = answer;
      if (answer.following !== undefined) throw new PluginAnswerError('a message with others behind it');
      if (answer.edns !== undefined) throw new PluginAnswerError('a message with an OPT record of its own');
      return {
        ...answer,
        rcode: checkNumber(rcode, MAX_RCODE, 'response code'),
        answers: checkRecords(answers),
        authorities: checkRecords(authorities),
        additionals: checkRecords(additionals),
      };
    }
    case 'refused':
    case 'servfail':
    case 'notimp':
    case 'formerr':
    case 'overloaded': {
      const { kind, lifetime, reason, extendedError } = answer;
      return {
        kind,
        ...checkLifetime(lifetime),
        ...(reason !== undefined && { reason: String(reason) }),
        ...checkExtendedError(extendedError),
      };
    }
    case 'drop':
      return { kind: 'drop' };
    case 'forwarded':
      throw new PluginAnswerError('a changed answer of a server: use toWhole to change it');
    default:
      throw new PluginAnswerError(`an answer without a known kind: ${JSON.stringify(answer)}`);
  }
}

function checkExtendedError(code: number | undefined): { readonly extendedError?: number } {
  return code === undefined ? {} : { extendedError: checkNumber(code, MAX_UINT16, 'extended error') };
}

function checkLifetime(lifetime: number | undefined): { readonly lifetime?: number } {
  return lifetime === undefined ? {} : { lifetime: checkNumber(lifetime, MAX_TTL, 'lifetime') };
}

function checkRecords(records: readonly ResourceRecord[]): readonly ResourceRecord[] {
  return takeAll(records, MAX_RECORDS, 'records').map(checkRecord);
}

/** @throws PluginAnswerError for more than `max`, and TypeError for what is no list */
function takeAll<Part>(parts: Iterable<Part>, max: number, what: string): readonly Part[] {
  const taken: Part[] = [];
  for (const part of parts) {
    if (taken.length >= max) throw new PluginAnswerError(`more than ${max} ${what}`);
    taken.push(part);
  }
  return taken;
}

function checkRecord(record: ResourceRecord): ResourceRecord {
  try {
    return {
      name: checkName(record.name),
      class: checkNumber(record.class, MAX_UINT16, 'class'),
      ttl: checkNumber(record.ttl, MAX_TTL, 'TTL'),
      data: checkData(record.data, record.class),
    };
  } catch (error) {
    if (error instanceof PluginAnswerError) throw error;
    throw new PluginAnswerError(`not a record: ${JSON.stringify(record)}: ${String(error)}`);
  }
}

/** What its wire form says. */
function checkData(data: RecordData, recordClass: number): RecordData {
  writer ??= new OctetWriter();
  writer.rewind(0, 0);
  writer.compresses = false;
  writeData(boundData(data), writer);
  if (writer.position > MAX_UINT16)
    throw new PluginAnswerError(`too long: ${writer.position} octets of data`);
  const octets = writer.octets.slice(0, writer.position);
  return readData(typeOfData(data), recordClass, new OctetReader(octets));
}

function boundData(data: RecordData): RecordData {
  switch (data.kind) {
    case 'TXT':
      return { ...data, strings: takeAll(data.strings, MAX_DATA_PARTS, 'strings') };
    case 'SVCB':
    case 'HTTPS':
      return { ...data, parameters: takeAll(data.parameters, MAX_DATA_PARTS, 'parameters') };
    default:
      return data;
  }
}

function checkName(name: string): ResourceRecord['name'] {
  if (typeof name !== 'string') throw new PluginAnswerError(`not a name: ${String(name)}`);
  return parseName(name);
}

function checkNumber(value: number, max: number, what: string): number {
  if (Number.isInteger(value) && value >= 0 && value <= max) return value;
  throw new PluginAnswerError(`not a ${what}: ${String(value)}`);
}
