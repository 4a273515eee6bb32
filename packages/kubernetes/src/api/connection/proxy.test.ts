import { describe, expect, test } from 'vitest';
import { chooseProxy, readProxyAddress } from './proxy.ts';

const HTTPS_PROXY = 'http://proxy.example:3128';
const choose = (server: string, environment: Readonly<Record<string, string>>) =>
  chooseProxy(new URL(server), environment);

describe('chooseProxy', () => {
  test('by scheme, in capitals or not', () => {
    expect(choose('https://api.example', { HTTPS_PROXY })).toBe(HTTPS_PROXY);
    expect(choose('https://api.example', { https_proxy: HTTPS_PROXY })).toBe(HTTPS_PROXY);
    expect(choose('http://api.example', { HTTPS_PROXY })).toBeUndefined();
    expect(choose('http://api.example', { HTTP_PROXY: HTTPS_PROXY })).toBe(HTTPS_PROXY);
    expect(choose('https://api.example', { HTTPS_PROXY: '' })).toBeUndefined();
  });

  test.each(['https://localhost', 'https://127.0.0.1:6443', 'https://[::1]:6443'])(
    'never for %s',
    (server) => {
      expect(choose(server, { HTTPS_PROXY })).toBeUndefined();
    },
  );

  test.each([
    ['*', 'https://api.example', true],
    ['example', 'https://api.example', true],
    ['example', 'https://example', true],
    ['.example', 'https://api.example', true],
    ['.example', 'https://example', false],
    ['*.example', 'https://api.example', true],
    ['ample', 'https://api.example', false],
    ['other, API.example', 'https://api.example', true],
    ['api.example:6443', 'https://api.example:6443', true],
    ['api.example:6443', 'https://api.example', false],
    ['api.example:443', 'https://api.example', true],
    ['10.0.0.1', 'https://10.0.0.1', true],
    ['10.0.0.1', 'https://10.0.0.10', false],
    ['10.0.0.0/8', 'https://10.96.0.1', true],
    ['10.0.0.0/8', 'https://11.96.0.1', false],
    ['10.0.0.0/99', 'https://10.96.0.1', false],
    ['10.0.0.0/8', 'https://api.example', false],
    ['fd00::/8', 'https://[fd00::1]', true],
    ['[fd00::1]:443', 'https://[fd00::1]', true],
    ['fd00::1', 'https://[fd00::1]', true],
    ['', 'https://api.example', false],
  ])('NO_PROXY=%s, %s: %s', (NO_PROXY, server, exempt) => {
    expect(choose(server, { HTTPS_PROXY, NO_PROXY })).toBe(exempt ? undefined : HTTPS_PROXY);
  });
});

test.each([
  ['proxy:3128', 'http://proxy:3128/'],
  ['https://proxy', 'https://proxy/'],
  ['socks5://proxy:1080', 'socks5://proxy:1080'],
  ['ftp://proxy', undefined],
  ['http://', undefined],
])('the address of a proxy: %s', (text, expected) => {
  expect(readProxyAddress(text)?.href).toBe(expected);
});
