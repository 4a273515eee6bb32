import { expect, it } from 'vitest';
import { KeyFileError, readKeyFile } from './key-file.ts';

it('reads keys in the form of named.conf', () => {
  const text = `# made by tsig-keygen
key "a.example." {
    algorithm hmac-sha512; // the longest
    secret "c2Vj//cmV0";
};
/* another */ key b { secret c2VjcmV0; }
`;
  expect(readKeyFile(text)).toEqual([
    { name: 'a.example.', algorithm: 'hmac-sha512', secret: 'c2Vj//cmV0' },
    { name: 'b', algorithm: undefined, secret: 'c2VjcmV0' },
  ]);
  expect(readKeyFile('')).toEqual([]);
});

it.each([
  ['options { };', 'unexpected token "options"'],
  ['key "a" { algorithm hmac-sha256; };', 'expected secret for key "a"'],
  ['key "a" { secret "x"; port 5; };', 'unexpected token "port"'],
  ['key "a" { secret "x";', 'unexpected token "key"'],
])('refuses %j', (text, message) => {
  expect(() => readKeyFile(text)).toThrow(KeyFileError);
  expect(() => readKeyFile(text)).toThrow(message);
});
