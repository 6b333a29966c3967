"""DxDispatch's models: read, written, evaluated; cases to models and back."""
