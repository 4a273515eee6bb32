/**
 * How the answers of the server blocks of a plan become packets. Clients of each original see the form that they know.
 */
export interface ResponseForm {
  /** Which packets count as queries. `strict`: those that readers accept. `lenient`: all that CoreDNS answers, which are more. */
  readonly acceptance: 'strict' | 'lenient';
  /** The RA bit. `as-answered`: as the answer says. */
  readonly recursionAvailable: boolean | 'as-answered';
  /**
   * The OPT record. `own`: with the server's UDP size, which also limits responses over UDP. `repeated`: that of the client, with its UDP
   * size and the options that CoreDNS repeats.
   */
  readonly opt: { readonly kind: 'own'; readonly udpSize: number } | { readonly kind: 'repeated' };
  /** When names are compressed. `as-needed`: only if the message does not fit otherwise, or needs fragments over UDP. */
  readonly compression: 'always' | 'as-needed';
  /** Which extended errors (RFC 8914) responses carry. `passed-on`: those of upstream servers. */
  readonly extendedErrors: 'none' | 'passed-on' | 'all';
}

/** The form of our own front ends. @param udpSize in our OPT records, which limits responses over UDP too */
export function toNativeForm({
  udpSize,
  ...settings
}: Pick<ResponseForm, 'extendedErrors' | 'recursionAvailable'> & { readonly udpSize: number }): ResponseForm {
  return { ...settings, acceptance: 'strict', opt: { kind: 'own', udpSize }, compression: 'always' };
}

/** The form of CoreDNS. @param extendedErrors `none`: only plugins that send them in CoreDNS do */
export function toCoreDnsForm(extendedErrors: 'none' | 'all'): ResponseForm {
  return {
    acceptance: 'lenient',
    recursionAvailable: 'as-answered',
    opt: { kind: 'repeated' },
    compression: 'as-needed',
    extendedErrors,
  };
}
