import { describe, expect, it } from 'vitest';
import { EndpointRotation, parseEndpoint } from './endpoints.ts';

describe('endpoints of etcd', () => {
  it.each([
    ['http://127.0.0.1:2379', { secure: false, host: '127.0.0.1', port: 2379 }],
    ['https://etcd.example', { secure: true, host: 'etcd.example', port: 2379 }],
    ['https://etcd.example:443/', { secure: true, host: 'etcd.example', port: 443 }],
    ['http://etcd.example:80', { secure: false, host: 'etcd.example', port: 80 }],
    ['http://[2001:db8::1]:4001', { secure: false, host: '2001:db8::1', port: 4001 }],
    ['http://[2001:db8::80]', { secure: false, host: '2001:db8::80', port: 2379 }],
    ['etcd.example:4001', { secure: false, host: 'etcd.example', port: 4001 }],
  ])('reads %s', (text, expected) => {
    expect(parseEndpoint(text)).toEqual({ ...expected, text });
  });

  it.each([
    '',
    'ftp://etcd.example',
    'http://',
    'http://user@etcd.example',
    'http://etcd.example/path',
    'a b',
  ])('refuses %j', (text) => {
    expect(parseEndpoint(text)).toBeUndefined();
  });

  it('goes round all endpoints from any one on', () => {
    const endpoints = ['a:1', 'b:1', 'c:1'].map(parseEndpoint).filter((each) => each !== undefined);
    const rotation = new EndpointRotation(endpoints, () => 0.5);
    const seen: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      seen.push(rotation.current.host);
      rotation.advance();
    }
    expect(seen).toEqual(['b', 'c', 'a', 'b']);
  });
});
