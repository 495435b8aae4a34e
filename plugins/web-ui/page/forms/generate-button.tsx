// The button beside a field that asks the panel for a value; where there are several, somebody chooses.
import { useMutation } from '@tanstack/react-query';
import { Sparkles } from 'lucide-react';
import { Button } from 'react-aria-components';
import { useReader } from '../language/context.js';
import { notifyTrouble } from '../parts/notices.js';
import { caller } from './caller.js';
import { choicesOf, filledBy } from './generate.js';
import type { FormField, Generator, Values } from './schema.js';

export interface GenerateButtonProps {
  readonly field: FormField;
  readonly generator: Generator;
  readonly values: Values;
  readonly change: (values: Values) => void;
}

export function GenerateButton({ field, generator, values, change }: GenerateButtonProps) {
  const { say } = useReader();
  const ask = useMutation({
    mutationFn: () => caller.generate(generator, values),
    onSuccess: (reply) => {
      if (!generator.choose) change(filledBy(generator, values, reply));
    },
    onError: notifyTrouble,
  });
  const choices = ask.data === undefined ? undefined : choicesOf(generator, ask.data);
  return (
    <div className="actions">
      <Button
        className="button small"
        isPending={ask.isPending}
        aria-label={say('forms.generateOf', { field: field.title })}
        onPress={() => ask.mutate()}
      >
        <Sparkles size={16} aria-hidden />
        {say('forms.generate')}
      </Button>
      {choices?.map((item) => {
        const label = String(item[generator.choose?.label ?? ''] ?? '');
        return (
          <Button
            key={label}
            className="button small"
            onPress={() => {
              change(filledBy(generator, values, item));
              ask.reset();
            }}
          >
            <bdi>{label}</bdi>
          </Button>
        );
      })}
    </div>
  );
}
