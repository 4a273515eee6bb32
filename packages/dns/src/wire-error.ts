/**
 * The only error that reading octets from the network throws.
 */
export class WireError extends Error {
  override readonly name = 'WireError';
  /** Octets from the start of the input. */
  readonly offset: number;

  /**
   * @param what The problem, without its place.
   * @param offset Its place, in octets from the start of the input.
   */
  constructor(what: string, offset: number) {
    super(`malformed message: ${what} at octet ${offset}`);
    this.offset = offset;
  }
}
