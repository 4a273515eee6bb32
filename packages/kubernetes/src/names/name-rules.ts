/**
 * The API server's rules for names, which kube-dns also applies to its operators' settings.
 */

/** One label, as namespaces have them (RFC 1123): up to 63 lower-case letters, digits and dashes. */
export function isDns1123Label(text: string): boolean {
  return text.length <= 63 && LABEL_1123.test(text);
}

/** One label, as services have them (RFC 1035): it begins with a letter. */
export function isDns1035Label(text: string): boolean {
  return text.length <= 63 && LABEL_1035.test(text);
}

/** Lower-case labels separated by dots, without a final dot. Does not check the length of labels. */
export function isDns1123Subdomain(text: string): boolean {
  return text.length <= 253 && SUBDOMAIN.test(text);
}

const LABEL_1123 = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
