/**
 * The one error that reading octets from the network throws.
 */
export class WireError extends Error {
  override readonly name = 'WireError';
  /** Octets from the start of what was read. */
  readonly offset: number;

  /**
   * @param what What is wrong, without its place.
   * @param offset Where, in octets from the start of what was read.
   */
  constructor(what: string, offset: number) {
    super(`malformed message: ${what} at octet ${offset}`);
    this.offset = offset;
  }
}
