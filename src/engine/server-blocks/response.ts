/**
 * Answers of server blocks as packets, in the form of CoreDNS. The response repeats the client's OPT record with its UDP size,
 * and takes the RA bit from the answer. Names are compressed only if the message would not fit otherwise.
 */
import type { Answer, OwnEdns } from '../../chain/answer.ts';
import type { Client, MessageSigner, RepeatedParts } from '../../chain/query.ts';
import { explainResponse, replyOf } from '../../chain/response.ts';
import { MAX_PLAIN_RCODE } from '../../wire/edns.ts';
import { encodeMessage, encodeWhole } from '../../wire/message.ts';
import { isRepeatedOption } from '../../wire/passing-options.ts';
import { type Asked, type Reply, respond } from '../../wire/query.ts';
import { MAX_MESSAGE_OCTETS, maxResponseOctets } from '../../wire/response-size.ts';
import { type Edns, type Message, OPCODE } from '../../wire/types.ts';

type Sendable = Exclude<Answer, { kind: 'drop' }>;

export interface ResponseOptions {
  /** Undefined: it is not signed. */
  readonly signer?: MessageSigner | undefined;
  /** Whether to add the extended errors of the answer. A signed response has none. Default: no. */
  readonly sendsExtendedErrors?: boolean | undefined;
}

/**
 * @param asked as it arrived
 * @param repeated the header and the OPT record that the response repeats
 */
export function encodeAnswer(
  asked: Asked,
  repeated: RepeatedParts,
  answer: Sendable,
  client: Client,
  { signer, sendsExtendedErrors = false }: ResponseOptions = {},
): Uint8Array {
  const reply = replyOf(answer);
  const question = asked.question;
  const response = respond({ question, ...repeated }, reply);
  const own = answer.kind === 'message' ? answer.edns : undefined;
  const { authenticData = false, rcode = 0 } = reply;
  const edns = ednsOf(repeated, own, rcode >> 4);
  // The answer may have an OPT record where the query has none to repeat: then any code can be sent.
  const code = edns === undefined ? response.header.rcode : rcode & MAX_PLAIN_RCODE;
  const message: Message = {
    ...response,
    header: { ...response.header, authenticData, rcode: code, ...flagsFor(asked, reply) },
    edns,
  };
  const limit = maxResponseOctets(client.transport, repeated.edns?.udpSize ?? 0, MAX_OFFERED_SIZE);
  const maxPlain = Math.min(limit, maxPlainOctets(client));
  const reserved = signer?.octets ?? 0;
  const encoded =
    encodeWhole(message, { limit: maxPlain, reserved, compresses: false }) ??
    encodeMessage(message, { limit, reserved });
  if (signer !== undefined) return signer.sign(encoded);
  if (!sendsExtendedErrors || repeated.edns === undefined || message.edns === undefined) return encoded;
  return explainResponse(encoded, limit, answer, { options: message.edns.options, sendsOwn: true });
}

/** RD and CD are not repeated for NOTIFY, unless a server has replied with them. */
function flagsFor({ header }: Asked, { recursionDesired = false, checkingDisabled = false }: Reply) {
  return header.opcode === OPCODE.NOTIFY ? { recursionDesired, checkingDisabled } : {};
}

/** Maximum size of a response without compression; over UDP, it must not need fragments. */
function maxPlainOctets({ transport, address }: Client): number {
  if (transport !== 'udp') return MAX_MESSAGE_OCTETS;
  return address.includes(':') ? MAX_PLAIN_IPV6 : MAX_PLAIN_IPV4;
}

const MAX_PLAIN_IPV4 = 1480;
const MAX_PLAIN_IPV6 = 1220;

/** Any UDP size that a client offers is accepted. */
const MAX_OFFERED_SIZE = MAX_MESSAGE_OCTETS;

function ednsOf(
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
