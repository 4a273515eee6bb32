/**
 * Messages on a stream: each stands behind its length in two octets (RFC 1035 section 4.2.2).
 *
 * What has come of an unfinished message is kept in the pieces that it came in, so an announced length costs us nothing.
 */
const PREFIX_OCTETS = 2;

export class MessageSplitter {
  #pieces: Uint8Array[] = [];
  #kept = 0;
  /** Octets to keep before there can be a whole message. */
  #wanted = PREFIX_OCTETS;

  /** Takes more of the stream, and gives out the messages that are whole now, to be used at once. */
  *push(chunk: Uint8Array): Iterable<Uint8Array> {
    this.#pieces.push(chunk);
    this.#kept += chunk.length;
    if (this.#kept < this.#wanted) return;
    const octets = this.#pieces.length === 1 ? chunk : Buffer.concat(this.#pieces, this.#kept);
    let at = 0;
    this.#wanted = PREFIX_OCTETS;
    while (octets.length - at >= PREFIX_OCTETS) {
      const end = at + PREFIX_OCTETS + (((octets[at] ?? 0) << 8) | (octets[at + 1] ?? 0));
      if (end > octets.length) {
        this.#wanted = end - at;
        break;
      }
      yield octets.subarray(at + PREFIX_OCTETS, end);
      at = end;
    }
    const rest = octets.subarray(at);
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#kept = rest.length;
  }
}

/** A message behind its length. */
export function prefixed(message: Uint8Array): Uint8Array {
  const octets = new Uint8Array(PREFIX_OCTETS + message.length);
  octets[0] = message.length >> 8;
  octets[1] = message.length & 0xff;
  octets.set(message, PREFIX_OCTETS);
  return octets;
}
