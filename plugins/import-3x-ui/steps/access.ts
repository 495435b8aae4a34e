// API tokens and admins, by the hashes that 3x-ui stores.
import { createHash } from 'node:crypto';
import { kernelErrors } from '../../../kernel/index.js';
import type { AccessArrivalsApi, OlderToken } from '../../access/contract.js';
import { type Context, take } from '../context.js';
import { countOf, flagOf, secondsOf, textOf } from '../values.js';

const TOKENS = 'api_tokens';
const ADMINS = 'users';
/** Scopes of tokens, and what they are called here. */
const KINDS: Readonly<Record<string, string>> = { admin: '', '': '', 'node-sync': 'node' };

export async function importTokens(context: Context, access: AccessArrivalsApi): Promise<void> {
  const { source, report, who, dryRun } = context;
  for await (const row of source.rows(TOKENS)) {
    const stored = textOf(row['token']).trim();
    const isDigest = /^[0-9a-f]{64}$/.test(stored);
    const scope = textOf(row['scope']);
    const kind = KINDS[scope];
    const token: OlderToken = {
      name: textOf(row['name']).trim(),
      digest: isDigest ? stored : createHash('sha256').update(stored).digest('hex'),
      enabled: flagOf(row['enabled'], true),
      createdAt: secondsOf(row['created_at']),
      expiresAt: countOf(row['expires_at']),
      kind: kind ?? scope,
    };
    if (stored === '') report.left(TOKENS, 'it is blank', token.name);
    else if (kind === undefined)
      report.left(TOKENS, `this panel has no tokens of the scope ${scope}`, token.name);
    else if (access.hasToken(token.digest)) report.present(TOKENS);
    else {
      let name = token.name;
      const isTaken = await take(context, { table: TOKENS, name: token.name }, async () => {
        const problem = access.tokenProblem(token);
        if (problem !== undefined) throw kernelErrors.INVALID(problem);
        if (!dryRun) name = await access.addToken(token, who);
      });
      if (isTaken && name !== token.name)
        report.changed(TOKENS, 'with another name, as its own is taken here', name);
      if (isTaken && !isDigest) report.changed(TOKENS, 'only its SHA-256 is stored', token.name);
    }
  }
}

export async function importAdmins(context: Context, access: AccessArrivalsApi): Promise<void> {
  const { source, report, who, dryRun } = context;
  for await (const row of source.rows(ADMINS)) {
    const username = textOf(row['username']);
    if (await access.hasAdmin(username)) {
      report.left(ADMINS, 'an admin of this name is here, whose password stays', username);
      continue;
    }
    await take(context, { table: ADMINS, name: username }, async () => {
      const hash = textOf(row['password']);
      const problem = access.adminProblem(username, hash);
      if (problem !== undefined) throw kernelErrors.INVALID(problem);
      if (!dryRun) await access.addAdmin(username, hash, who);
    });
  }
}
