// The box with which a client, or all of them, is chosen.
export interface ChooseBoxProps {
  readonly label: string;
  readonly isChosen: boolean;
  readonly isPartly?: boolean;
  readonly toggle: () => void;
  readonly text?: string;
  readonly tabIndex?: number;
}

export function ChooseBox({ label, isChosen, isPartly = false, toggle, text, tabIndex }: ChooseBoxProps) {
  return (
    <label className="choose-box">
      <input
        type="checkbox"
        aria-label={label}
        checked={isChosen}
        tabIndex={tabIndex}
        ref={(element) => {
          if (element) element.indeterminate = isPartly;
        }}
        onChange={toggle}
      />
      {text !== undefined && <span>{text}</span>}
    </label>
  );
}
