/**
 * Rules that change questions before they are answered, and change answers back.
 */
import type { Pattern } from '@portolan/kernel/base/pattern.ts';

export interface RewriteOptions {
  /** Tried in order. */
  readonly rules: readonly RewriteRule[];
}

/** `stop`: a rule that applies is the last one. `continue`: later rules see the changed question. */
export type RewriteMode = 'stop' | 'continue';

/**
 * The names that a rule matches. Names and `text` are compared in lower case and with their final dot. As in CoreDNS, even a
 * prefix that ends inside a label gets a final dot, and then matches no name.
 */
export type RewriteMatch =
  | { readonly kind: 'exact' | 'prefix' | 'suffix' | 'substring'; readonly text: string }
  | { readonly kind: 'regex'; readonly pattern: Pattern };

export type RewriteRule = { readonly mode: RewriteMode } & (
  | RewriteName
  | { readonly field: 'type' | 'class'; readonly from: number; readonly to: number }
  | RewriteTtl
  | RewriteRcode
  | RewriteCname
  | RewriteEdns
);

export interface RewriteName {
  readonly field: 'name';
  readonly match: RewriteMatch;
  /** With `{1}` for the groups of a regular expression, `{0}` for the whole match. */
  readonly to: string;
  /** Whether names in the answer are restored automatically: always for `exact`, else only on request. */
  readonly restoresName: boolean;
  /** Applied to all records of the response, the last first. */
  readonly answers: readonly RewriteAnswer[];
}

/** Changes owner names (`name`) or names in record data (`value`). */
export interface RewriteAnswer {
  readonly field: 'name' | 'value';
  readonly pattern: Pattern;
  /** With `{1}` for groups. */
  readonly to: string;
}

/** TTLs in the answer are raised to `min` and lowered to `max`: seconds. */
export interface RewriteTtl {
  readonly field: 'ttl';
  readonly match: RewriteMatch;
  readonly min: number;
  readonly max: number;
}

export interface RewriteRcode {
  readonly field: 'rcode';
  readonly match: RewriteMatch;
  readonly from: number;
  readonly to: number;
}

/** If the target of an alias in an answer matches, the changed target is looked up instead. */
export interface RewriteCname {
  readonly field: 'cname';
  readonly match: RewriteMatch;
  readonly to: string;
}

/** `set`: replaced or added. `append`: added if absent. `replace`: only if present. */
export type RewriteEdnsAction = 'set' | 'append' | 'replace' | 'unset';

export type RewriteEdns = { readonly field: 'edns0'; readonly action: RewriteEdnsAction } & (
  | {
      readonly option: 'local';
      /** 0 to 65,535. */
      readonly code: number;
      readonly value: RewriteEdnsValue;
      readonly reverts: boolean;
    }
  | { readonly option: 'nsid'; readonly reverts: boolean }
  | {
      readonly option: 'subnet';
      /** Bits of the client's address, 0 to 32 and 0 to 128. */
      readonly ipv4Prefix: number;
      readonly ipv6Prefix: number;
      readonly reverts: boolean;
    }
);

/** The value of a local option: octets, or a property of the query. */
export type RewriteEdnsValue =
  | { readonly kind: 'octets'; readonly octets: Uint8Array }
  /** A fact that a plugin notes: `forward/upstream`. */
  | { readonly kind: 'metadata'; readonly label: string }
  | {
      readonly kind: 'variable';
      readonly name:
        | 'qname'
        | 'qtype'
        | 'client_ip'
        | 'client_port'
        | 'protocol'
        | 'server_ip'
        | 'server_port';
    };
