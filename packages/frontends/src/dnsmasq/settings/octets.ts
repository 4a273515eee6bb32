/**
 * Text as dnsmasq sees it: one character per octet, so that text that is not UTF-8 stays intact.
 *
 * Some characters lose their special meaning inside quotes. They are *escaped*: mapped above all octets, so that they no longer match
 * separators or digits, until the text is used.
 */

const ESCAPE = 0x100;
const ESCAPED = /[^\0-\xff]/;
/** Characters that quotes escape: digits and letters of hexadecimal numbers, and the separators space, comma, colon and dot. */
const ESCAPABLE = /[0-9a-fA-F ,.:]/;

/** The octets of a file or an argument, one character each. */
export function decodeLatin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}

/** The octets of a command-line argument, which Node gives as a string. */
export function octetsOfArgument(argument: string): string {
  return Buffer.from(argument, 'utf8').toString('latin1');
}

/** Decodes octets to the original text, for paths, messages and interface names. */
export function textOfOctets(text: string): string {
  return Buffer.from(unescapeText(text), 'latin1').toString('utf8');
}

export function bytesOfOctets(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(unescapeText(text), 'latin1'));
}

export function escapeText(character: string): string {
  return ESCAPABLE.test(character) ? String.fromCharCode(character.charCodeAt(0) + ESCAPE) : character;
}

export function unescapeText(text: string): string {
  if (!ESCAPED.test(text)) return text;
  let plain = '';
  for (let index = 0; index < text.length; index += 1)
    plain += String.fromCharCode(text.charCodeAt(index) & 0xff);
  return plain;
}
