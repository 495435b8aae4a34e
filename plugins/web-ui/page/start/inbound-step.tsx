// The first step: one of a few recipes, and where client programs find it.
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { Button, Form } from 'react-aria-components';
import { PanelFailure } from '../../../../sdk/failure.js';
import { certificatesQuery, queries } from '../api/queries.js';
import { saidAt } from '../api/trouble.js';
import { wholeOf } from '../clients/fields.js';
import { useReader } from '../language/context.js';
import { Field } from '../parts/field.js';
import { Problem } from '../parts/problem.js';
import { makeInbound } from './queries.js';
import { fieldOfIssue, type InboundField, isPortTaken, RECIPES, type Typed, usableOf } from './recipes.js';

const LAST_PORT = 65_535;

export interface StepProps {
  readonly typed: Typed;
  readonly set: (typed: Typed) => void;
}

export function InboundStep({ typed, set }: StepProps) {
  const { say } = useReader();
  const certificates = useQuery(certificatesQuery);
  const certificate = usableOf(certificates.data ?? []);
  const offered = RECIPES.filter((recipe) => recipe !== 'tls' || certificate !== undefined);
  const recipe = offered.includes(typed.recipe) ? typed.recipe : 'reality';
  const port = wholeOf(typed.port);
  const isPort = port !== undefined && port > 0 && port <= LAST_PORT;
  const make = useMutation({
    mutationFn: (whole: number) => makeInbound({ ...typed, recipe }, whole, certificate),
    onSuccess: ({ id }) => {
      set({ ...typed, recipe, inboundId: id });
      void queries.invalidateQueries({ queryKey: ['inbounds'] });
    },
  });
  const { error } = make;
  const refused: Partial<Record<InboundField, string>> = {};
  if (error instanceof PanelFailure) {
    for (const issue of error.issues) {
      const field = fieldOfIssue(issue.path);
      if (field) refused[field] ??= saidAt(issue);
    }
    if (isPortTaken(error.code)) refused.port = say('start.portTaken');
  }
  if (!isPort) refused.port = say('start.portWrong');
  const problemOf = (field: InboundField) => refused[field] !== undefined && { problem: refused[field] };
  const change = (changed: Partial<Typed>): void => {
    set({ ...typed, ...changed });
    make.reset();
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isPort && !make.isPending) make.mutate(port);
  };
  return (
    <Form className="stack" onSubmit={submit}>
      <fieldset className="recipes">
        <legend>{say('start.recipe')}</legend>
        {offered.map((name) => (
          <label key={name} className="card recipe">
            <input
              type="radio"
              name="recipe"
              checked={name === recipe}
              onChange={() => change({ recipe: name })}
            />
            <span>
              <strong>{say(`start.recipe.${name}`)}</strong>
              <span className="hint">{say(`start.about.${name}`)}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {certificates.data && !certificate && <p className="hint">{say('start.noCertificate')}</p>}
      {recipe === 'reality' && (
        <Field
          label={say('start.target')}
          hint={say('start.targetHint')}
          value={typed.target}
          onChange={(target) => change({ target })}
          maxLength={253}
          isRequired
          isPlain
          {...problemOf('target')}
        />
      )}
      <Field
        label={say('start.address')}
        hint={say('start.addressHint')}
        value={typed.address}
        onChange={(address) => change({ address })}
        maxLength={255}
        isRequired
        isPlain
        {...problemOf('address')}
      />
      <Field
        label={say('start.port')}
        hint={say('start.portHint')}
        value={typed.port}
        onChange={(text) => change({ port: text })}
        inputMode="numeric"
        isPlain
        {...problemOf('port')}
      />
      {error && Object.keys(refused).length === 0 && <Problem error={error} />}
      <div className="actions end">
        <Link to="/inbound/new" className="button quiet">
          {say('start.allFields')}
        </Link>
        <Button type="submit" className="button main" isPending={make.isPending}>
          {say('start.makeInbound')}
        </Button>
      </div>
    </Form>
  );
}
