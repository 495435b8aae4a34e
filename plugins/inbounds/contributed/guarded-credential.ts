// Guards the credentials that protocols of other plugins make, like the rest of these protocols.
import Joi from 'joi';
import { custom, inspect, mapOf, PanelError } from '../../../kernel/index.js';
import type { Credential, CredentialValue, ProtocolCredential } from '../credential.js';

const LONGEST = 10_000;
const LONGEST_KEY = 255;
const MOST = 1000;

const text = () => Joi.string().allow('').max(LONGEST);
const CREDENTIAL = mapOf(
  custom<CredentialValue>(
    Joi.alternatives(text(), Joi.number().unsafe(), Joi.boolean(), Joi.array().items(text()).max(MOST)),
  ),
);

function credentialProblem(answer: unknown): string | undefined {
  if (answer === undefined || isRefusal(answer)) return undefined;
  const result = inspect(CREDENTIAL, answer, { first: true });
  return 'issues' in result ? result.issues[0]?.message : undefined;
}
const keysProblem = (answer: unknown): string | undefined =>
  Array.isArray(answer) &&
  answer.length <= MOST &&
  answer.every((key) => typeof key === 'string' && key.length <= LONGEST_KEY)
    ? undefined
    : `it must answer with at most ${MOST} texts of at most ${LONGEST_KEY} characters`;

/** A refusal is an answer too: it goes to the caller, and is no fault of the plugin. */
const isRefusal = (answer: unknown): answer is PanelError =>
  answer instanceof PanelError && answer.status < 500;

export function guardedCredential(
  own: ProtocolCredential,
  ask: <T>(what: string, problem: (answer: unknown) => string | undefined, work: () => T) => T,
): ProtocolCredential {
  const { schema, flat, sample } = own;
  return {
    schema,
    flat,
    ...(sample && { sample }),
    create: (sent, context) => {
      const answer = ask('credential.create', credentialProblem, (): Credential | PanelError | undefined => {
        try {
          return own.create(sent, context);
        } catch (error) {
          if (isRefusal(error)) return error;
          throw error;
        }
      });
      if (answer instanceof PanelError) throw answer;
      return answer;
    },
    keys: (credential) => ask('credential.keys', keysProblem, () => own.keys(credential)),
  };
}
