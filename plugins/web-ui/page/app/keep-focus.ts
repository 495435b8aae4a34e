// Whoever goes by keys must not begin at the top of the page again because the element with the focus is gone.

/** Dialogs give the focus back by themselves, a moment after they are closed. */
const PATIENCE_MS = 150;

export interface FocusParts {
  readonly active: () => Element | null;
  readonly body: Element;
  /** what gets the focus when the element that had it is gone */
  readonly rest: () => HTMLElement | null;
}

const isDisabled = (element: Element): boolean => element.matches(':disabled, :disabled *');

/** Where the focus goes, if it was lost; `last` had it. */
export function focusAfterLoss(
  last: HTMLElement | undefined,
  { active, body, rest }: FocusParts,
): HTMLElement | undefined {
  const now = active();
  if (!last || (now !== null && now !== body)) return undefined;
  if (!last.isConnected) return rest() ?? undefined;
  // A control that is busy comes back.
  return isDisabled(last) ? undefined : last;
}

/** Returns what ends it. */
export function keepFocus(): () => void {
  let last: HTMLElement | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const parts: FocusParts = {
    active: () => document.activeElement,
    body: document.body,
    rest: () => document.querySelector<HTMLElement>('[role=dialog], [role=alertdialog], #main'),
  };
  const look = (): void => {
    timer = undefined;
    focusAfterLoss(last, parts)?.focus({ preventScroll: true });
  };
  const remember = ({ target }: FocusEvent): void => {
    last = target instanceof HTMLElement ? target : undefined;
  };
  // A click on nothing takes the focus away on purpose.
  const forget = ({ target }: PointerEvent): void => {
    if (target instanceof Element && !target.closest('a, button, input, label, select, textarea, [tabindex]'))
      last = undefined;
  };
  const observer = new MutationObserver(() => {
    if (document.activeElement === document.body) timer ??= setTimeout(look, PATIENCE_MS);
  });
  document.addEventListener('focusin', remember);
  document.addEventListener('pointerdown', forget);
  observer.observe(document.body, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ['disabled'],
  });
  return () => {
    clearTimeout(timer);
    observer.disconnect();
    document.removeEventListener('focusin', remember);
    document.removeEventListener('pointerdown', forget);
  };
}
