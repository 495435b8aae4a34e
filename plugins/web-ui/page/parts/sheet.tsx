// A dialog above the page. The focus goes into it, and back to where it was.
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button, Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { useReader } from '../language/context.js';

export interface SheetProps {
  readonly title: ReactNode;
  readonly isOpen: boolean;
  /** without it the dialog stays until its work is done */
  readonly close?: () => void;
  readonly children: ReactNode;
  readonly size?: 'usual' | 'screen';
  readonly role?: 'dialog' | 'alertdialog';
}

export function Sheet({ title, isOpen, close, children, size = 'usual', role = 'dialog' }: SheetProps) {
  const { say } = useReader();
  return (
    <ModalOverlay
      className="overlay"
      isOpen={isOpen}
      onOpenChange={(open) => !open && close?.()}
      isDismissable={close !== undefined && role === 'dialog'}
      isKeyboardDismissDisabled={close === undefined}
    >
      <Modal className="sheet" data-size={size}>
        <Dialog className="dialog" role={role}>
          <div className="dialog-head">
            <Heading slot="title">{title}</Heading>
            {close && (
              <Button className="button quiet icon" aria-label={say('close')} onPress={close}>
                <X size={20} aria-hidden />
              </Button>
            )}
          </div>
          {children}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
