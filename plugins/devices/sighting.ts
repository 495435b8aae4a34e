// Reads what a device sends about itself.
import { hash as digest } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { DeviceDescription } from './contract.js';

/** A shorter id is no id: it would be guessed, or be the same on many devices. */
const SHORTEST_ID = 6;
/** Characters of each text. */
const LONGEST_TEXT = 512;

/** The SHA-256 of the device's id, in hex; undefined when it sends no usable one. */
export function hashOf({ 'x-hwid': sent }: IncomingHttpHeaders): string | undefined {
  const id = typeof sent === 'string' ? sent.trim() : '';
  // Node decodes headers as Latin-1: this gives the bytes that were sent.
  return id.length < SHORTEST_ID ? undefined : digest('sha256', Buffer.from(id, 'latin1'), 'hex');
}

/** Cuts a text without cutting a character in two. */
export const cut = (text: string): string =>
  text.length <= LONGEST_TEXT ? text : [...text.slice(0, 2 * LONGEST_TEXT)].slice(0, LONGEST_TEXT).join('');

function textOf(sent: string | readonly string[] | undefined): string {
  if (typeof sent !== 'string') return '';
  const text = Buffer.from(sent, 'latin1').toString('utf8');
  return cut(text.replaceAll(/\p{Cc}/gu, ' ').trim());
}

export const descriptionOf = (headers: IncomingHttpHeaders): DeviceDescription => ({
  userAgent: textOf(headers['user-agent']),
  deviceOs: textOf(headers['x-device-os']),
  osVersion: textOf(headers['x-ver-os']),
  deviceModel: textOf(headers['x-device-model']),
});

/** Names a device to people, without its hash. */
export const fingerprintOf = (hash: string | undefined): string => hash?.slice(0, 12) ?? '';
