/**
 * Character strings in quotes, as zone files have them (RFC 1035 section 5.1).
 */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

export function quote(bytes: Uint8Array): string {
  let text = '';
  for (const octet of bytes) {
    if (octet === QUOTE || octet === BACKSLASH) text += `\\${String.fromCharCode(octet)}`;
    else if (octet < 0x20 || octet > 0x7e) text += `\\${String(octet).padStart(3, '0')}`;
    else text += String.fromCharCode(octet);
  }
  return `"${text}"`;
}
