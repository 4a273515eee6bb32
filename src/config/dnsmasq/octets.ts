/**
 * Text as dnsmasq sees it: one character per octet, so that nothing is lost of what is not UTF-8.
 *
 * Inside quotes some characters lose their special meaning. They are *escaped* then: moved above all octets, where no
 * separator and no digit is found, until the piece of text that contains them is used.
 */

const ESCAPE = 0x100;
const ESCAPED = /[^\0-\xff]/;
/** What quotes escape: digits, letters of hexadecimal numbers, and the separators space, comma, colon and dot. */
const ESCAPABLE = /[0-9a-fA-F ,.:]/;

/** The octets of a file or an argument as text of one character each. */
export function octetsOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}

/** A command line's argument, which came as characters. */
export function octetsOfArgument(argument: string): string {
  return Buffer.from(argument, 'utf8').toString('latin1');
}

/** The octets as the text that people wrote: for paths, messages and names of interfaces. */
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
