/**
 * The protocol of the control socket: the client sends one line of JSON, the server replies with lines of JSON.
 *
 *     {"portolan":1,"verb":"lookup","words":["cart.shop.svc.cluster.local"]}
 *
 *     {"data":{...}}                       any number of times
 *     {"end":"done"}                       or {"end":"failed","reason":"..."}
 *
 * A verb such as `tail` sends data until the client closes the connection. Readers ignore fields that they do not know, so that fields
 * may be added without a new version.
 */

/** Changes when an older client could misunderstand a reply. */
export const PROTOCOL_VERSION = 1;

export interface ControlRequest {
  readonly verb: string;
  /** Arguments, as on the command line. */
  readonly words: readonly string[];
  /** Objects of Kubernetes that the client has read with its own rights; for `explain`. Default: none. */
  readonly evidence?: readonly unknown[];
}

export type ControlReply =
  | { readonly kind: 'data'; readonly data: unknown }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly reason: string };

/** A line is not of this protocol, or of another version of it. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

/** @returns the line with its newline */
export function writeRequest({ verb, words, evidence }: ControlRequest): string {
  return `${JSON.stringify({ portolan: PROTOCOL_VERSION, verb, words, evidence })}\n`;
}

/** @throws ProtocolError */
export function readRequest(line: string): ControlRequest {
  const fields = readObject(line);
  if (fields['portolan'] !== PROTOCOL_VERSION)
    throw new ProtocolError(
      `version of the protocol not known: ${JSON.stringify(fields['portolan'])}. This server has version ${PROTOCOL_VERSION}.`,
    );
  const { verb, words = [], evidence } = fields;
  if (typeof verb !== 'string') throw new ProtocolError('verb: not a text. Give one, as in "status".');
  if (!Array.isArray(words) || !words.every((word) => typeof word === 'string'))
    throw new ProtocolError('words: not a list of texts. Give one, as in [].');
  if (evidence !== undefined && !Array.isArray(evidence))
    throw new ProtocolError('evidence: not a list. Give the objects as a list, or leave it out.');
  return { verb, words, ...(evidence && { evidence }) };
}

/** @returns the line with its newline */
export function writeReply(reply: ControlReply): string {
  if (reply.kind === 'data') return `${JSON.stringify({ data: reply.data })}\n`;
  return `${JSON.stringify(reply.kind === 'done' ? { end: 'done' } : { end: 'failed', reason: reply.reason })}\n`;
}

/** @throws ProtocolError */
export function readReply(line: string): ControlReply {
  const { end, reason, data } = readObject(line);
  if (end === undefined) return { kind: 'data', data };
  return end === 'done' ? { kind: 'done' } : { kind: 'failed', reason: String(reason) };
}

function readObject(line: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new ProtocolError('not a line of JSON. Send {"portolan":1,"verb":"status"}.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ProtocolError('not an object of JSON. Send {"portolan":1,"verb":"status"}.');
  return { ...value };
}
