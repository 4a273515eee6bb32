import { describe, expect, it } from 'vitest';
import { externalTarget } from './external-target.ts';

describe('the target of an ExternalName', () => {
  it.each([
    ['WWW.Example.com', { kind: 'name', name: 'www.example.com.' }],
    ['www.example.com.', { kind: 'name', name: 'www.example.com.' }],
    ['192.0.2.7', { kind: 'address', address: '192.0.2.7' }],
    ['FD00::7', { kind: 'address', address: 'fd00::7' }],
    ['a..b', { kind: 'unusable' }],
    ['', { kind: 'unusable' }],
    ['x'.repeat(64), { kind: 'unusable' }],
    ['é.example', { kind: 'unusable' }],
  ])('%s', (text, target) => expect(externalTarget(text)).toEqual(target));
});
