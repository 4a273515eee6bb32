/**
 * Answers as packets, in the form that clients of a front end know.
 */
import { MAX_PLAIN_RCODE } from '@portolan/dns/edns.ts';
import { isExtendedError, type ResponseErrors, withExtendedErrors } from '@portolan/dns/extended-error.ts';
import { encodeMessage, encodeWhole } from '@portolan/dns/message.ts';
import { isRepeatedOption } from '@portolan/dns/passing-options.ts';
import { type Asked, type Reply, respond } from '@portolan/dns/query.ts';
import { MAX_MESSAGE_OCTETS, maxResponseOctets } from '@portolan/dns/response-size.ts';
import { type Edns, type Message, OPCODE } from '@portolan/dns/types.ts';
import { type Answer, type OwnEdns, toReply } from './answer.ts';
import type { Client, MessageSigner, RepeatedParts } from './query.ts';
import type { ResponseForm } from './response-form.ts';

/** An answer that is sent. */
export type SentAnswer = Exclude<Answer, { kind: 'drop' }>;

/**
 * @param asked as it arrived
 * @param repeated the header and the OPT record that the response repeats
 * @param signer undefined: the response is not signed. A signed response has no extended errors
 * @returns a response no longer than the client takes
 */
export function encodeAnswer(
  asked: Asked,
  repeated: RepeatedParts,
  answer: SentAnswer,
  client: Client,
  form: ResponseForm,
  signer?: MessageSigner,
): Uint8Array {
  const message = writeMessage(asked, repeated, answer, form);
  const maxOffered = form.opt.kind === 'own' ? form.opt.udpSize : MAX_MESSAGE_OCTETS;
  const limit = maxResponseOctets(client.transport, repeated.edns?.udpSize ?? 0, maxOffered);
  const reserved = signer?.octets ?? 0;
  const encoded =
    (form.compression === 'as-needed' ? encodePlain(message, client, limit, reserved) : undefined) ??
    encodeMessage(message, { limit, reserved });
  if (signer !== undefined) return signer.sign(encoded);
  if (form.extendedErrors === 'none' || repeated.edns === undefined || message.edns === undefined)
    return encoded;
  const { options } = message.edns;
  if (options.some(isExtendedError)) return encoded;
  return withExtendedErrors(encoded, limit, findErrors(answer, form.extendedErrors), options);
}

function writeMessage(
  asked: Asked,
  repeated: RepeatedParts,
  answer: SentAnswer,
  form: ResponseForm,
): Message {
  const reply = toReply(answer);
  const own = answer.kind === 'message' ? answer.edns : undefined;
  const { opt, recursionAvailable } = form;
  const flags = recursionAvailable === 'as-answered' ? {} : { recursionAvailable };
  const response = respond({ question: asked.question, ...repeated }, { ...reply, ...flags });
  if (opt.kind === 'repeated') return repeatOpt(response, asked, repeated, reply, own);
  const { edns } = response;
  if (edns === undefined) return response;
  return { ...response, edns: { ...edns, udpSize: opt.udpSize, options: own?.options ?? [] } };
}

/** The response with the OPT record of the client, as CoreDNS repeats it. */
function repeatOpt(
  response: Message,
  asked: Asked,
  repeated: RepeatedParts,
  reply: Reply,
  own: OwnEdns | undefined,
): Message {
  const { authenticData = false, rcode = 0 } = reply;
  const edns = ednsFor(repeated, own, rcode >> 4);
  // The answer may have an OPT record where the query has none to repeat: then any code can be sent.
  const code = edns === undefined ? response.header.rcode : rcode & MAX_PLAIN_RCODE;
  return {
    ...response,
    header: { ...response.header, authenticData, rcode: code, ...flagsFor(asked, reply) },
    edns,
  };
}

/** RD and CD are not repeated for NOTIFY, unless a server has replied with them. */
function flagsFor({ header }: Asked, { recursionDesired = false, checkingDisabled = false }: Reply) {
  return header.opcode === OPCODE.NOTIFY ? { recursionDesired, checkingDisabled } : {};
}

function ednsFor(
  { edns: asked, optionCodes }: RepeatedParts,
  own: OwnEdns | undefined,
  extendedRcode: number,
): Edns | undefined {
  if (asked === undefined) return own && { ...own, version: 0, extendedRcode };
  const options =
    own?.options ??
    asked.options.filter(({ code }) => isRepeatedOption(code) || optionCodes?.has(code) === true);
  const dnssecOk = asked.dnssecOk || own?.dnssecOk === true;
  return { version: 0, udpSize: asked.udpSize, dnssecOk, extendedRcode, options };
}

const MAX_PLAIN_IPV4 = 1480;
const MAX_PLAIN_IPV6 = 1220;

/** The message without compression; undefined: it does not fit, or needs fragments over UDP. */
function encodePlain(
  message: Message,
  { transport, address }: Client,
  limit: number,
  reserved: number,
): Uint8Array | undefined {
  const unfragmented = address.includes(':') ? MAX_PLAIN_IPV6 : MAX_PLAIN_IPV4;
  const maxPlain = transport === 'udp' ? Math.min(limit, unfragmented) : limit;
  return encodeWhole(message, { limit: maxPlain, reserved, compresses: false });
}

function findErrors(answer: SentAnswer, sent: 'passed-on' | 'all'): ResponseErrors {
  return {
    code: sent === 'all' && 'extendedError' in answer ? answer.extendedError : undefined,
    passed: 'passedErrors' in answer ? answer.passedErrors : undefined,
  };
}
