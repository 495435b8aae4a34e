// The account types that plugins declare, by name; errors of their functions are attributed to their plugins.
import { type Contributed, messageOf, type PluginContext, whyNotJson } from '../../../kernel/index.js';
import { type AccountField, type AccountType, accountProblem, type ApiAccountType } from './account-type.js';
import { AccountTypes } from '../contract.js';
import { type CoreUser, ProtocolRefused } from '../driver.js';

const LONGEST_FAULT = 1000;

/** Returns the same type with functions whose results are checked. */
function contained({ value: type, fault: attribute }: Contributed<AccountType>): AccountType {
  const reported = new Set<string>();
  const wrong = (what: string, error: unknown): string => {
    if (!reported.has(what)) attribute(`${what} of the account type ${type.name}`, error);
    reported.add(what);
    return `${what} of the account type ${type.name} failed: ${messageOf(error).slice(0, LONGEST_FAULT)}`;
  };
  const check = type.fault?.bind(type);
  const fault: AccountType['fault'] =
    check &&
    ((account) => {
      try {
        const answer: unknown = check(account);
        if (answer === undefined || typeof answer === 'string') return answer?.slice(0, LONGEST_FAULT);
        if (answer instanceof Promise) answer.catch(() => undefined);
        throw new Error(`it returned ${typeof answer} instead of a text or nothing`);
      } catch (error) {
        return wrong('fault', error);
      }
    });
  return { ...type, ...(fault && { fault }), fields: containedFields(type.fields, wrong) } as AccountType;
}

/** A key that cannot be made is left out: one account must not keep the whole config from the core. */
function containedFields(
  fields: Readonly<Record<string, AccountField>>,
  wrong: (what: string, error: unknown) => string,
): Readonly<Record<string, AccountField>> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const make = field.toJson?.bind(field);
      if (!make) return [name, field];
      const toJson: AccountField['toJson'] = (value) => {
        try {
          const made = make(value);
          const problem = made === undefined ? undefined : whyNotJson(made);
          if (problem !== undefined) throw new Error(problem);
          return made;
        } catch (error) {
          wrong(`toJson of ${name}`, error);
          return undefined;
        }
      };
      return [name, { ...field, toJson }];
    }),
  );
}

export class Accounts {
  readonly #declared: () => readonly Contributed<AccountType>[];
  #types: ReadonlyMap<string, AccountType> | undefined;

  /** Reads the contributions at the first use: all plugins have added theirs by then. */
  constructor({ contributions }: Pick<PluginContext, 'contributions'>) {
    this.#declared = () => contributions(AccountTypes);
  }

  get #all(): ReadonlyMap<string, AccountType> {
    return (this.#types ??= new Map(this.#declared().map((entry) => [entry.value.name, contained(entry)])));
  }

  of(name: string): AccountType | undefined {
    return this.#all.get(name);
  }

  /** Types that an inbound of this message accepts by the core's API. */
  byInbound(inboundType: string): ApiAccountType[] {
    return [...this.#all.values()].filter(
      (type): type is ApiAccountType => type.users === 'api' && type.inboundType === inboundType,
    );
  }

  /** Throws ProtocolRefused for a user that cannot be one. */
  require(user: CoreUser | undefined, protocol: string): void {
    const problem = user && this.problem(user, protocol);
    if (problem !== undefined) throw new ProtocolRefused(problem);
  }

  /** Returns the reason why this user does not fit an inbound with these accounts; undefined when it does. */
  problem(user: CoreUser, protocol: string): string | undefined {
    const { account, name } = user;
    const type = this.of(protocol);
    if (type === undefined) return `no plugin declares the accounts ${protocol}`;
    if (account.protocol !== protocol)
      return `the account is for ${account.protocol}, the inbound speaks ${protocol}`;
    if (name === '' || name.includes('>>>') || /\p{Cc}/u.test(name))
      return 'the name must not be empty nor contain >>> or control characters';
    return accountProblem(type, account);
  }
}
