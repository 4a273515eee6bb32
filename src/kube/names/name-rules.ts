/**
 * The rules of the API server for names, which kube-dns applies to what its operators write too.
 */

/** One label, as namespaces have them (RFC 1123): up to 63 lower-case letters, digits and dashes. */
export function isDns1123Label(text: string): boolean {
  return text.length <= 63 && LABEL_1123.test(text);
}

/** One label, as services have them (RFC 1035): it begins with a letter. */
export function isDns1035Label(text: string): boolean {
  return text.length <= 63 && LABEL_1035.test(text);
}

/** Labels in lower case with dots between them, and none at the end. The length of a label is not looked at. */
export function isDns1123Subdomain(text: string): boolean {
  return text.length <= 253 && SUBDOMAIN.test(text);
}

const LABEL_1123 = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
